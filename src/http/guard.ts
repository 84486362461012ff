import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isWithin, toNetworks } from '../config/cidr.js';
import type { Settings } from '../config/settings.js';
import { GatewayError, type GatewayErrorOptions } from '../errors/gateway-error.js';
import { createOriginCheck, isOwnOrigin } from './cors.js';
import { MAX_BODY_BYTES } from './http-limits.js';

export type GuardSettings = Pick<Settings, 'ALLOWED_CLIENTS' | 'ALLOWED_HOSTS' | 'CORS_ORIGINS'>;

/** True for a route that is open to every caller and `Host`; its responses contain the status only. */
export const isProbe = (route: string | undefined): boolean => route === '/health/live' || route === '/health/ready';

export const isApi = (route: string | undefined): boolean => route?.startsWith('/api/') === true;

const CLOSE: GatewayErrorOptions = { headers: { connection: 'close' } };
/** A name, perhaps with a final dot, or an IP literal; then perhaps a port, which may be empty (RFC 3986 §3.2.3). */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(?::(\d{0,5}))?$/;

/** Decides who may call (docs/api.md#who-may-call). Ignores forwarding headers. */
export function createGuard(settings: GuardSettings): (request: IncomingMessage, route: string | undefined) => void {
  const isListedOrigin = createOriginCheck(settings.CORS_ORIGINS);
  const allowedHosts = new Set(settings.ALLOWED_HOSTS);
  const allowedClients = toNetworks(settings.ALLOWED_CLIENTS);
  /** The last Host header accepted on a connection: its requests usually repeat it, and its addresses do not change. */
  const passed = new WeakMap<Socket, string>();

  /** @throws GatewayError host-not-allowed, client-not-allowed */
  function assertMayConnect(host: string, { localAddress = '', remoteAddress = '' }: Socket): void {
    const name = toName(host);
    // load balancers and kubelets send the address of the connection; a page that uses DNS rebinding cannot
    if (name === null || (!allowedHosts.has(name) && name !== toLiteral(localAddress))) {
      throw new GatewayError(
        'host-not-allowed',
        'The Host header is neither one of ALLOWED_HOSTS nor the address of this connection.',
      );
    }
    if (!isWithin(allowedClients, remoteAddress)) {
      throw new GatewayError('client-not-allowed', 'The address of this connection is not in ALLOWED_CLIENTS.');
    }
  }

  /** @throws GatewayError malformed-request, request-too-large, host-not-allowed, client-not-allowed */
  return (request, route) => {
    assertForm(request);
    const { headers, socket } = request;
    if (isProbe(route)) return;
    if (!headers.host) throw malformed('The request has no Host header.');
    if (passed.get(socket) !== headers.host) {
      assertMayConnect(headers.host, socket);
      passed.set(socket, headers.host);
    }
    // a path without a route counts as one of the API
    if ((route === undefined || isApi(route)) && isForeignPage(headers) && !isListedOrigin(headers.origin)) {
      throw new GatewayError(
        'client-not-allowed',
        'A page of another origin made this call, and its origin is not in CORS_ORIGINS.',
      );
    }
  };
}

/** @throws GatewayError malformed-request, request-too-large */
function assertForm(request: IncomingMessage): void {
  const { httpVersionMajor, method, url = '', rawHeaders, headers } = request;
  // the parser accepts "GET / HTTP/2.0"
  if (httpVersionMajor !== 1) throw malformed('This service supports only HTTP/1.1 and HTTP/1.0.');
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) {
    throw malformed('The request target is an absolute URL or is missing; send a path that begins with a slash.');
  }
  if (countHosts(rawHeaders) > 1) throw malformed('The request has more than one Host header.');
  if (headers['transfer-encoding'] !== undefined && !hasChunkedBody(request)) throw tooLarge(CLOSE);
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/**
 * True for a body that is ignored: a proxy sends a GET over HTTP/2 like that if its end comes in a separate frame. Not in
 * HTTP/1.0, where not every proxy knows where such a body ends (RFC 9112 §6.1).
 */
function hasChunkedBody({ httpVersionMinor, method, headers }: IncomingMessage): boolean {
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  const isChunked = headers['transfer-encoding']?.toLowerCase() === 'chunked';
  return isRead && isChunked && httpVersionMinor === 1;
}

/**
 * True if a page of another site made the call, or one of another origin that could read the response. Browsers send
 * `Sec-Fetch-Site` only over HTTPS and to this machine, and `Origin` with every call whose response a script of another
 * origin could read. A navigation, such as a link to a CSV, does not count: the other page cannot read the response.
 */
function isForeignPage(headers: IncomingHttpHeaders): boolean {
  const { host, origin, 'sec-fetch-site': site } = headers;
  // it is a list if it was sent twice
  const isCrossSite = site !== undefined && String(site).toLowerCase().includes('cross-site');
  if (!isCrossSite && (!origin || isOwnOrigin(origin, host))) return false;
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
}

/** A proxy in front may disagree on where the next request begins, so the connection is closed after this one. */
const malformed = (detail: string): GatewayError => new GatewayError('malformed-request', detail, CLOSE);

const tooLarge = (options: GatewayErrorOptions = {}): GatewayError =>
  new GatewayError('request-too-large', 'This API takes no bodies.', { ...options, status: 413 });

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The name in a Host header, in lower case; null for a malformed header. */
function toName(host: string): string | null {
  const [, name = null, port] = HOST.exec(host.toLowerCase()) ?? [];
  const number = Number(port || 80);
  return number >= 1 && number <= 65_535 ? name : null;
}

/** A socket address as written in Host: IPv6 in brackets and without a zone, IPv4 unchanged. */
function toLiteral(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  return plain.includes(':') ? `[${plain.toLowerCase()}]` : plain;
}
