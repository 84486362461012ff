import { once } from 'node:events';
import { request as openRequest, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as connectOverTls, TLSSocket } from 'node:tls';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { dial, DialFailed, outOfFiles, tcpInWords, toHost, withoutFinalDot } from './dial.js';
import { ConnectTimedOut, keepUntrustedChain, untrustedChainOf } from './connection.js';
import { alertOf, handshakeInWords, isTlsFailure, rejectionInWords, untrustedInWords } from './tls-words.js';

const MAX_CONNECT_ANSWER_BYTES = 65_536;

/** Identifies us to the bank and the proxy. */
export const USER_AGENT = 'accounts-gateway';

export interface Proxy {
  readonly url: URL;
  /** PEM of the roots for an https proxy; null for the runtime's default ones. */
  readonly ca: string | null;
}

/**
 * Opens a connection through a CONNECT proxy, ready for TLS with the bank. Any response other than a 2xx with nothing
 * after it is an error.
 * @param target host and port of the bank; everything else here is for the proxy
 * @throws GatewayError proxy-refused, proxy-unavailable, bank-unreachable, overloaded
 */
export async function openTunnel(
  { url, ca }: Proxy,
  target: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<Socket> {
  const isPlain = url.protocol === 'http:';
  const port = Number(url.port || (isPlain ? 80 : 443));
  const tcp = await dial(toHost(url), port, settings, signal).catch((error: DialFailed) => {
    throw toUnreachable(error, url);
  });
  const host = withoutFinalDot(toHost(url));
  const trusted = { minVersion: 'TLSv1.2', ...(ca !== null && { ca, allowPartialTrustChain: true }) } as const;
  const proxy = isPlain
    ? tcp
    : connectOverTls({ ...trusted, socket: tcp, host, servername: isIP(host) ? '' : host, rejectUnauthorized: true });
  if (proxy instanceof TLSSocket) keepUntrustedChain(proxy);
  const request = openRequest({
    method: 'CONNECT',
    path: target,
    headers: { Host: target, 'User-Agent': USER_AGENT, 'Proxy-Connection': 'keep-alive', Connection: 'keep-alive' },
    createConnection: () => proxy,
    maxHeaderSize: MAX_CONNECT_ANSWER_BYTES,
  });
  const authorization = toAuthorization(url);
  // not in the options, which Node writes to its debug output
  if (authorization) request.setHeader('Proxy-Authorization', authorization);
  request.on('error', () => undefined);
  request.end();
  try {
    const [answer, socket, head] = (await once(request, 'connect', { signal })) as [IncomingMessage, Socket, Buffer];
    // the request no longer handles the socket's errors
    socket.on('error', () => undefined);
    const isTunnel = answer.statusCode !== undefined && answer.statusCode >= 200 && answer.statusCode < 300;
    // no TLS server speaks first
    if (isTunnel && head.length === 0) return socket;
    socket.destroy();
    throw isTunnel ? noTlsServerError(url.host, target) : toRejected(url, target, answer);
  } catch (error) {
    request.destroy();
    if (signal.aborted) {
      const detail = `The egress proxy ${url.host} opened no tunnel to ${target} within BANK_CONNECT_TIMEOUT_MS; either it cannot be reached, or it cannot reach the bank.`;
      throw new ConnectTimedOut('proxy-unavailable', detail);
    }
    throw error instanceof GatewayError ? error : toFailed(error as Error, url, target, proxy);
  }
}

/** The proxy opened something other than a tunnel to the bank. */
export const noTlsServerError = (proxy: string, target: string): GatewayError =>
  new GatewayError(
    'proxy-refused',
    `The tunnel of the egress proxy ${proxy} to ${target} does not lead to a TLS server.`,
  );

function toUnreachable({ stage, isLate, cause }: DialFailed, { host }: URL): GatewayError {
  const late = stage === 'DNS' ? 'DNS did not resolve its name' : 'it accepted no TCP connection';
  const reason = isLate ? `${late} within BANK_CONNECT_TIMEOUT_MS` : tcpInWords(cause);
  const detail = `The egress proxy ${host} cannot be reached: ${reason}.`;
  if (isLate) return new ConnectTimedOut('proxy-unavailable', detail);
  return outOfFiles(cause) ?? new GatewayError('proxy-unavailable', detail);
}

/** The proxy did not answer CONNECT. For a TLS error, the operator must act: the proxy and its CA are settings. */
function toFailed(error: NodeJS.ErrnoException, { host, protocol }: URL, target: string, socket: Socket): GatewayError {
  const proxy = `The egress proxy ${host}`;
  const forOperator = (detail: string) => new GatewayError('proxy-refused', detail, { owner: 'operator' });
  if ((socket as Partial<TLSSocket>).authorizationError) {
    const check = 'Check EGRESS_PROXY_URL and EGRESS_PROXY_CA_FILE.';
    return forOperator(
      `The certificate of the egress proxy ${host} is not trusted: ${untrustedInWords(error, untrustedChainOf(socket))}. ${check}`,
    );
  }
  const alert = alertOf(error);
  if (alert !== null && rejectionInWords(alert) !== null) {
    const never = 'the gateway never shows one to a proxy';
    return forOperator(`${proxy} requires a client certificate, and ${never} (TLS alert ${alert}).`);
  }
  if (isTlsFailure(error)) return forOperator(`No TLS with the egress proxy ${host}: ${handshakeInWords(error)}.`);
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const detail = `${proxy} did not open a tunnel to ${target}: the header of its answer is larger than ${MAX_CONNECT_ANSWER_BYTES} bytes.`;
    return new GatewayError('proxy-refused', detail);
  }
  const other =
    protocol === 'http:'
      ? 'it may speak TLS: then EGRESS_PROXY_URL must begin with https://'
      : 'it may require a client certificate';
  if (error.code?.startsWith('HPE_')) {
    const detail = `${proxy} did not open a tunnel to ${target}: its answer is not HTTP; ${other}.`;
    return new GatewayError('proxy-refused', detail);
  }
  const detail = `${proxy} closed the connection without a whole answer to CONNECT; its rules may not allow this client, or ${other} (${error.code}).`;
  return new GatewayError('proxy-unavailable', detail);
}

function toRejected(url: URL, target: string, { statusCode: status, headers }: IncomingMessage): GatewayError {
  const proxy = `The egress proxy ${url.host}`;
  if (BANK_AWAY.has(status ?? 0)) {
    const first = 'Ask the bank first whether its service is up, then the network team whether the proxy may reach it';
    const detail = `${proxy} is up, and could not reach ${target} (it answered ${status}). ${first}.`;
    return new GatewayError('bank-unreachable', detail);
  }
  const isForOperator = status === 407 || status === 401;
  const why = isForOperator ? `: ${toCredentialsReason(headers['proxy-authenticate'])}` : '';
  const reason = status === 403 ? ': its rules do not allow it' : why;
  const detail = `${proxy} did not open a tunnel to ${target}${reason} (it answered ${status}).`;
  // a password that is tried again and again may lock the user
  const isRejection = status === 407 && url.password !== '';
  return new GatewayError('proxy-refused', detail, isForOperator ? { owner: 'operator', isRejection } : {});
}

/** Statuses of a proxy that cannot reach the bank; 500 is from tinyproxy, and from squid for a name without DNS. */
const BANK_AWAY: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Reads what the proxy offers first: a password that was never checked is not wrong. */
function toCredentialsReason(authenticate: string | string[] = []): string {
  const others = schemesOf([authenticate].flat().join(', '));
  if (others === null || others.includes('Basic'))
    return 'the user or password in EGRESS_PROXY_URL is missing or wrong';
  return `it offers only ${others.join(' and ') || 'an unknown scheme'}, and not Basic, which is all the gateway speaks`;
}

const MAX_SCHEMES_LENGTH = 1000;
const SCHEMES = ['Basic', 'Negotiate', 'NTLM', 'Kerberos', 'Digest', 'Bearer'] as const;

/** The known schemes that a WWW-Authenticate or Proxy-Authenticate header offers; null for no header. */
export function schemesOf(header: string | undefined): readonly string[] | null {
  if (!header?.trim()) return null;
  // only the beginning of the other side's text: the pattern takes quadratic time
  const bare = header.slice(0, MAX_SCHEMES_LENGTH).replace(/"(?:[^"\\]|\\.)*"/g, '');
  return SCHEMES.filter((scheme) => new RegExp(`(^|,)\\s*${scheme}\\b(?!\\s*=)`, 'i').test(bare));
}

function toAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`, 'utf8').toString('base64')}`;
}
