import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { HttpsProxyAgent, type HttpsProxyAgentOptions } from 'https-proxy-agent';
import { orAborted } from '../time/deadline.js';
import { ConnectFailure } from './connect-failure.js';

/** The longest answer of a proxy to CONNECT. */
const MAX_CONNECT_ANSWER_BYTES = 65_536;
const END_OF_HEADERS = '\r\n\r\n';

/** One tunnel to open, within `timeoutMs`. */
export interface TunnelRequest {
  /** Without credentials. */
  readonly proxy: URL;
  /** Options and headers for the proxy. Nothing that is meant for the bank. */
  readonly proxyOptions: HttpsProxyAgentOptions<string>;
  readonly request: ClientRequest;
  /** Host, port and TLS options of the bank. */
  readonly bank: Parameters<HttpsProxyAgent<string>['connect']>[1];
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** An open tunnel, with the TLS socket to the bank in it. */
export interface Tunnel {
  /** Begins its TLS handshake with the bank. */
  readonly socket: TLSSocket;
  /** How many bytes came through the tunnel so far. */
  bytesThrough(): number;
}

/**
 * Has https-proxy-agent open one tunnel, with what it leaves open closed: an answer other than a tunnel is an error and
 * never taken for the bank's, an answer that does not end is cut off, and an attempt that is late or not wanted any
 * more leaves no socket.
 * @throws ConnectFailure
 */
export async function openTunnel(tunnel: TunnelRequest): Promise<Tunnel> {
  const { proxy, request, signal, timeoutMs } = tunnel;
  const abort = new AbortController();
  const giveUp = () => abort.abort(new ConnectFailure('given-up'));
  if (signal?.aborted) giveUp();
  abort.signal.throwIfAborted();
  signal?.addEventListener('abort', giveUp, { once: true });
  // not `within`: what is late must be ended, and leave no socket
  const timer = setTimeout(() => abort.abort(new ConnectFailure('proxy-timeout')), timeoutMs);

  let answer = Buffer.alloc(0);
  const gather = (bytes: Buffer) => (answer = Buffer.concat([answer, bytes]));
  let proxyStatus: number | undefined;
  request.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
    // whatever stood where a status belongs
    proxyStatus = statusCode >= 100 && statusCode <= 599 ? statusCode : undefined;
    proxySocket?.removeListener('data', gather);
  });
  const once = new HttpsProxyAgent(proxy, { ...tunnel.proxyOptions, signal: abort.signal });
  const [connecting, proxySocket] = announced(() => once.connect(request, tunnel.bank));
  const limit = () => {
    if ((proxySocket?.bytesRead ?? 0) > MAX_CONNECT_ANSWER_BYTES) abort.abort(new ConnectFailure('proxy-refused'));
  };
  proxySocket?.on('readable', limit);
  // the library reads by itself, so that this does not set the socket flowing
  proxySocket?.on('data', gather);
  proxySocket?.on('error', () => undefined);
  try {
    const socket = await orAborted(connecting, abort.signal);
    abort.signal.throwIfAborted();
    if (!(socket instanceof TLSSocket)) throw new ConnectFailure('proxy-refused', undefined, proxyStatus);
    // no TLS server speaks first, and the library drops what came with the answer
    if (answer.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length < answer.length)
      throw new ConnectFailure('tunnel-noise');
    const before = proxySocket?.bytesRead ?? 0;
    return { socket, bytesThrough: () => (proxySocket?.bytesRead ?? 0) - before };
  } catch (error) {
    connecting.then((socket) => socket.destroy()).catch(() => undefined);
    proxySocket?.destroy();
    throw error instanceof ConnectFailure ? error : toFailure(error as Error, proxySocket);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    proxySocket?.removeListener('readable', limit);
    proxySocket?.removeListener('data', gather);
  }
}

/** An error without code is the library's own about what the proxy answered, unless the proxy just hung up. */
function toFailure(error: Error, proxySocket: Socket | undefined): ConnectFailure {
  const answered = !('code' in error) && proxySocket?.readableEnded !== true;
  return new ConnectFailure(answered ? 'proxy-refused' : 'proxy-unavailable', error);
}

/**
 * Runs `connect` and also returns the socket that it opened. The library opens it before its first await and hands it out only
 * at the end, so the runtime's own announcement of new connections, plain and TLS alike, is what leads to it; between
 * subscribing and unsubscribing nothing else can run.
 */
function announced(connect: () => Promise<Socket>): [Promise<Socket>, Socket | undefined] {
  let opened: Socket | undefined;
  const onSocket = (message: unknown) => (opened = (message as { socket: Socket }).socket);
  subscribe('net.client.socket', onSocket);
  try {
    const connecting = connect();
    return [connecting, opened];
  } finally {
    unsubscribe('net.client.socket', onSocket);
  }
}
