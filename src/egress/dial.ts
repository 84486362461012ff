import { connect, isIP, type Socket } from 'node:net';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ConnectTimedOut } from './failures.js';

/** The host of a URL, as sockets take it: an IPv6 address without its brackets, a name without its final dot. */
export const toHost = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$|\.$/g, '');

/**
 * How TCP connections are opened. Of several addresses each but the last gets a quarter of the connect deadline, not
 * Node's 250 ms, which a far one does not answer in. With a source address only addresses of its family are tried.
 */
export function dialOptions({ BANK_CONNECT_TIMEOUT_MS: timeoutMs, EGRESS_LOCAL_ADDRESS: localAddress }: Settings) {
  return {
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.round(timeoutMs / 4)),
    ...(localAddress !== undefined && { localAddress, family: isIP(localAddress) }),
  };
}

interface TcpTarget {
  readonly host: string;
  readonly port: number;
  /** Host and port, for messages. */
  readonly address: string;
}

/**
 * A TCP connection to the bank. An attempt that is late or no longer wanted leaves no socket.
 * @param signal ends the attempt for its call
 * @throws GatewayError bank-unreachable; ConnectTimedOut
 */
export function openTcp({ host, port, address }: TcpTarget, settings: Settings, signal?: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ ...dialOptions(settings), host, port, noDelay: true });
  let isResolved = isIP(host) !== 0;
  socket.on('lookup', (error: Error | null) => (isResolved ||= error === null));
  const timer = setTimeout(() => giveUp('BANK_CONNECT_TIMEOUT_MS'), settings.BANK_CONNECT_TIMEOUT_MS);
  const onAbort = () => giveUp('BANK_REQUEST_TIMEOUT_MS');
  const giveUp = (setting: string) =>
    socket.destroy(
      new ConnectTimedOut(
        'bank-unreachable',
        isResolved
          ? `No TCP connection to ${address} within ${setting}; a firewall on the way may drop the packets.`
          : `DNS did not resolve ${address} within ${setting}.`,
      ),
    );
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  socket.once('connect', () => {
    end();
    resolve(socket);
  });
  // stays, because TLS reports later errors
  socket.on('error', (error) => {
    end();
    reject(error instanceof GatewayError ? error : toUnreachable(error, address, isResolved));
  });
  return promise;
}

/** Explanations of the runtime's codes. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The bank refused the TCP connection',
  EHOSTUNREACH: 'There is no route for a TCP connection to the bank',
  ENETUNREACH: 'There is no route for a TCP connection to the bank',
  EADDRNOTAVAIL: 'There is no route for a TCP connection to the bank',
  ETIMEDOUT: 'The TCP connection to the bank timed out',
};

/** Of several addresses the first that has words explains the failure. */
export function toUnreachable(error: NodeJS.ErrnoException, address: string, isResolved: boolean): GatewayError {
  const attempts: NodeJS.ErrnoException[] = error instanceof AggregateError ? [error, ...error.errors] : [error];
  const code = attempts.map((each) => each.code).find((each) => each !== undefined) ?? 'unknown';
  const reason =
    attempts.map(toUnboundReason).find(Boolean) ??
    attempts.map((each) => REASONS[each.code ?? '']).find(Boolean) ??
    'The TCP connection to the bank failed';
  const words = isResolved ? reason : 'DNS could not resolve the name of the bank';
  return new GatewayError('bank-unreachable', `${words} (${address}, ${code}).`);
}

/** The reason when the source address of a call could not be bound; undefined for any other error. */
export function toUnboundReason({ code, syscall, address }: NodeJS.ErrnoException & { address?: string }) {
  if (code !== 'EADDRNOTAVAIL' || syscall !== 'bind') return undefined;
  return `EGRESS_LOCAL_ADDRESS (${address}) is not an address of this machine`;
}
