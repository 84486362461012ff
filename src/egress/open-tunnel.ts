import { request as requestOverTcp } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { GatewayError } from '../errors/gateway-error.js';
import { ConnectTimedOut } from './failures.js';
import { toUnboundReason } from './wire-failure.js';

/** Maximum size of a proxy's response to CONNECT. */
const MAX_CONNECT_ANSWER_BYTES = 65_536;

/** A CONNECT proxy. */
export interface Proxy {
  readonly url: URL;
  /** PEM of the roots for an https proxy; null for the runtime's own. */
  readonly ca: string | null;
}

/** One tunnel to open, within `timeoutMs`. Nothing in it is meant for the bank but its name. */
interface TunnelRequest {
  readonly proxy: Proxy;
  readonly dial: Partial<TcpNetConnectOpts>;
  /** Host and port of the bank. */
  readonly target: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * A connection through a CONNECT proxy, on which the bank's TLS may begin. Any answer but a 200 with nothing after it is an
 * error, and an attempt that is late or no longer wanted leaves no socket.
 * @throws GatewayError proxy-refused, proxy-unavailable; the reason of `signal`
 */
export function openTunnel(tunnel: TunnelRequest): Promise<Socket> {
  const { proxy, dial, target, timeoutMs } = tunnel;
  const { url, ca } = proxy;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any(tunnel.signal ? [timeout, tunnel.signal] : [timeout]);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const request = (url.protocol === 'http:' ? requestOverTcp : requestOverTls)({
    method: 'CONNECT',
    path: target,
    headers: { Host: target, Connection: 'keep-alive' },
    host,
    port: url.port,
    servername: isIP(host) ? '' : host,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(ca !== null && { ca }),
    ...dial,
    agent: false,
    maxHeaderSize: MAX_CONNECT_ANSWER_BYTES,
    signal,
  });
  const authorization = toAuthorization(url);
  // not among the options, which Node writes into its debug output
  if (authorization) request.setHeader('Proxy-Authorization', authorization);
  const fail = (error: unknown) => {
    reject(error);
    request.destroy();
  };
  request.on('error', (error: NodeJS.ErrnoException) => {
    const { code } = error;
    const reason = toUnboundReason(error) ?? `The egress proxy ${url.host} cannot be reached`;
    if (signal.aborted) reject(timeout.aborted ? toLate(tunnel) : signal.reason);
    else if (code?.startsWith('HPE_')) fail(toRefused(tunnel));
    else fail(new GatewayError('proxy-unavailable', `${reason} (${code}).`));
  });
  request.on('connect', ({ statusCode }, socket: Socket, head) => {
    // the request no longer handles its errors
    socket.on('error', () => undefined);
    if (statusCode !== 200) fail(toRefused(tunnel, statusCode));
    // no TLS server speaks first
    else if (head.length > 0) fail(toNoTls(url, target));
    else resolve(socket);
  });
  request.end();
  return promise;
}

function toLate({ proxy: { url }, target }: TunnelRequest): ConnectTimedOut {
  return new ConnectTimedOut(
    'proxy-unavailable',
    `The egress proxy ${url.host} opened no tunnel to ${target} within BANK_CONNECT_TIMEOUT_MS; either it cannot be reached, or it cannot reach the bank.`,
  );
}

function toRefused({ proxy: { url }, target }: TunnelRequest, status?: number): GatewayError {
  const refused = `The egress proxy ${url.host} did not open a tunnel to ${target}`;
  if (status === 407) {
    const detail = `${refused}: the user or password in EGRESS_PROXY_URL is missing or wrong (it answered 407).`;
    return new GatewayError('proxy-refused', detail, { owner: 'operator' });
  }
  const why = status === 403 ? ': its rules do not allow it' : '';
  const answered = status === undefined ? '' : ` (it answered ${status})`;
  return new GatewayError('proxy-refused', `${refused}${why}${answered}.`);
}

/** The bytes in the tunnel are not TLS. */
export const toNoTls = (proxy: URL, target: string): GatewayError =>
  new GatewayError(
    'proxy-refused',
    `The tunnel of the egress proxy ${proxy.host} to ${target} does not lead to a TLS server.`,
  );

function toAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`, 'utf8').toString('base64')}`;
}
