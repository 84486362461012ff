import { request as openRequest } from 'node:http';
import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ConnectFailure } from './connect-failure.js';

/** Maximum size of a proxy's response to CONNECT. */
const MAX_CONNECT_ANSWER_BYTES = 65_536;

/** One tunnel to open, within `timeoutMs`. Nothing in it is meant for the bank but its name. */
interface TunnelRequest {
  readonly proxy: URL;
  /** PEM of the roots for an https proxy; null for the runtime's own. */
  readonly proxyCa: string | null;
  readonly dial: Partial<TcpNetConnectOpts>;
  /** Host and port of the bank. */
  readonly target: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * A connection through a CONNECT proxy, on which the bank's TLS may begin. Any answer but a 200 with nothing after it is an
 * error, and an attempt that is late or not wanted any longer leaves no socket.
 * @throws ConnectFailure
 */
export async function openTunnel(tunnel: TunnelRequest): Promise<Socket> {
  const { proxy, target, timeoutMs, signal } = tunnel;
  if (signal?.aborted) throw new ConnectFailure('given-up');
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const connection = connectTo(tunnel);
  const fail = (failure: ConnectFailure) => {
    reject(failure);
    connection.destroy();
  };
  // also once the request has let go of it
  connection.on('error', () => undefined);
  const request = openRequest({
    method: 'CONNECT',
    path: target,
    headers: { Host: target, Connection: 'keep-alive', ...toAuthorization(proxy) },
    createConnection: () => connection,
    maxHeaderSize: MAX_CONNECT_ANSWER_BYTES,
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    const unreadable = error.code?.startsWith('HPE_');
    fail(new ConnectFailure(unreadable ? 'proxy-refused' : 'proxy-unavailable', error));
  });
  request.on('connect', ({ statusCode }, socket: Socket, head) => {
    if (statusCode !== 200) fail(new ConnectFailure('proxy-refused', undefined, statusCode));
    // no TLS server speaks first
    else if (head.length > 0) fail(new ConnectFailure('tunnel-noise'));
    else resolve(socket);
  });
  request.end();
  // not `within`: what is late must be ended
  const timer = setTimeout(() => fail(new ConnectFailure('proxy-timeout')), timeoutMs);
  const giveUp = () => fail(new ConnectFailure('given-up'));
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function connectTo({ proxy, proxyCa, dial }: TunnelRequest): Socket {
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  if (proxy.protocol === 'http:') return connectTcp({ ...dial, host, port: Number(proxy.port || 80) });
  return connectTls({
    ...dial,
    host,
    port: Number(proxy.port || 443),
    servername: isIP(host) ? '' : host,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(proxyCa !== null && { ca: proxyCa }),
  });
}

function toAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`, 'utf8');
  return { 'Proxy-Authorization': `Basic ${basic.toString('base64')}` };
}
