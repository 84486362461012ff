import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { orAborted } from '../time/deadline.js';
import { ConnectTimedOut } from './connection.js';
import { answerWith, lookups } from './lookups.js';

/**
 * The host of a URL in the form that sockets need: an IPv6 address without brackets, a name as written, with its final
 * dot, because the resolver then adds no search domain.
 */
export const toHost = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$/g, '');

/** A host as it goes on the wire (SNI, `Host`, CONNECT): without the final dot of a name. */
export const withoutFinalDot = (host: string): string => host.replace(/\.(?=:|$)/, '');

export class DialFailed extends Error {
  /** @param isLate true if the signal ended the attempt */
  constructor(
    readonly stage: 'DNS' | 'TCP',
    readonly isLate: boolean,
    override readonly cause: Error,
  ) {
    super(`${stage} failed`);
  }
}

/**
 * Opens a TCP connection, to the bank or to its proxy. Of several addresses, each but the last gets a quarter of the
 * connect deadline, down to an eighth if there are many; Node's 250 ms is too short for a distant one.
 * @throws DialFailed
 */
export async function dial(host: string, port: number, settings: Settings, signal: AbortSignal): Promise<Socket> {
  const { BANK_CONNECT_TIMEOUT_MS: timeoutMs, EGRESS_LOCAL_ADDRESS: localAddress } = settings;
  const family = localAddress === undefined ? 0 : isIP(localAddress);
  const addresses = await orAborted(lookups.find(host, family), signal).catch((error: Error) => {
    throw new DialFailed('DNS', signal.aborted, error);
  });
  const shares = Math.min(8, Math.max(4, addresses.length + 1));
  const socket = connect({
    host,
    port,
    lookup: answerWith(addresses),
    noDelay: true,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.round(timeoutMs / shares)),
    ...(localAddress !== undefined && { localAddress, family }),
  });
  lookups.follow(socket);
  // TLS reports later errors
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw new DialFailed('TCP', signal.aborted, error as Error);
  }
}

/**
 * @param address host and port, for messages
 * @throws GatewayError bank-unreachable, overloaded
 */
export async function openTcp(
  host: string,
  port: number,
  address: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<Socket> {
  try {
    return await dial(host, port, settings, signal);
  } catch (error) {
    const { stage, isLate, cause } = error as DialFailed;
    if (isLate) {
      const detail =
        stage === 'TCP'
          ? `No TCP connection to ${address} within BANK_CONNECT_TIMEOUT_MS; a firewall on the way may drop the packets.`
          : `DNS did not resolve ${address} within BANK_CONNECT_TIMEOUT_MS.`;
      throw new ConnectTimedOut('bank-unreachable', detail);
    }
    throw (
      outOfFiles(cause) ??
      new GatewayError('bank-unreachable', `The bank (${address}) cannot be reached: ${tcpInWords(cause)}.`)
    );
  }
}

/** By the runtime's code. Each continues a sentence that begins with the name of the other side. */
export const TCP_FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'DNS could not resolve its name',
  EAI_AGAIN: 'DNS could not resolve its name',
  ECONNREFUSED: 'it refused the TCP connection',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  EADDRNOTAVAIL: 'this machine has no source address for it',
  EINVAL: 'the source address cannot lead to it',
  ETIMEDOUT: 'the TCP connection timed out',
};

/** The error if this process cannot open one more socket; else null. */
export function outOfFiles(error: NodeJS.ErrnoException): GatewayError | null {
  const code = attemptsOf(error).find((each) => each.code === 'EMFILE' || each.code === 'ENFILE')?.code;
  if (code === undefined) return null;
  return new GatewayError('overloaded', `No connection could be opened: too many open files (${code}).`);
}

/** An error, with those of its attempts at several addresses. */
const attemptsOf = (error: NodeJS.ErrnoException): readonly NodeJS.ErrnoException[] =>
  error instanceof AggregateError ? [error, ...(error.errors as NodeJS.ErrnoException[])] : [error];

/** Why TCP failed, with the code in brackets. Of several addresses, the first with a known reason explains it. */
export function tcpInWords(error: NodeJS.ErrnoException): string {
  const attempts = attemptsOf(error);
  const codes = attempts.flatMap(({ code }) => code ?? []);
  const words = codes.map((code) => TCP_FAILURES[code]).find(Boolean) ?? 'the TCP connection failed';
  // a source address of the other family fails at `bind`, a loopback one to another machine at `connect`
  const isOfSetting = attempts.some(
    ({ code, syscall }) => code === 'EINVAL' || (code === 'EADDRNOTAVAIL' && syscall === 'bind'),
  );
  return `${words}${isOfSetting ? '; check EGRESS_LOCAL_ADDRESS' : ''} (${codes[0] ?? 'unknown'})`;
}
