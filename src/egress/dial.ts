import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ConnectTimedOut } from './connection.js';

/** The host of a URL in the form that sockets need: an IPv6 address without brackets, a name without its final dot. */
export const toHost = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$|\.$/g, '');

/**
 * Options for opening TCP connections. Of several addresses, each but the last gets a quarter of the connect deadline;
 * Node's 250 ms is too short for a distant one. With a source address, only addresses of its family are tried.
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
 * Opens a TCP connection to the bank. An attempt that `signal` ends leaves no socket.
 * @throws GatewayError bank-unreachable, overloaded
 */
export async function openTcp(
  { host, port, address }: TcpTarget,
  settings: Settings,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect({ ...dialOptions(settings), host, port, noDelay: true });
  let isResolved = isIP(host) !== 0;
  socket.on('lookup', (error: Error | null) => (isResolved ||= error === null));
  // TLS reports later errors
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw timeoutError(address, isResolved);
    throw (
      outOfFiles(error as Error) ??
      new GatewayError('bank-unreachable', `The bank (${address}) cannot be reached: ${tcpInWords(error as Error)}.`)
    );
  }
}

function timeoutError(address: string, isResolved: boolean): ConnectTimedOut {
  const detail = isResolved
    ? `No TCP connection to ${address} within BANK_CONNECT_TIMEOUT_MS; a firewall on the way may drop the packets.`
    : `DNS did not resolve ${address} within BANK_CONNECT_TIMEOUT_MS.`;
  return new ConnectTimedOut('bank-unreachable', detail);
}

/** Why TCP fails, by the runtime's code. Continues a sentence that begins with the name of the other side. */
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

/** The problem if this process, not the other side, lacks something: it cannot open one more socket. Else null. */
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
