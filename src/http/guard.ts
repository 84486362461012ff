import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors/gateway-error.js';
import type { Settings } from '../config/settings.js';
import { createClientList } from './client-list.js';
import { createOriginCheck } from './cors.js';

/** Open to every caller and `Host`; the responses contain the status only. */
const PROBES = new Set(['/health/live', '/health/ready']);

/** True for the path, or the route, of a probe. */
export const isProbe = (path: string): boolean => PROBES.has(path);

/** The path of a URL, unchanged. */
export function toPath(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** RFC 9110 §4.1 wants 8000 at least. */
const MAX_URL_LENGTH = 8000;
const MAX_HEADERS = 100;
const MAX_BODY_BYTES = 1024;

/**
 * Decides who may call (docs/api.md#who-may-call): proper HTTP with one of our names as Host, from an allowed address,
 * and not from a page of another site in somebody's browser. Nothing is taken from a forwarding header.
 */
export function createGuard(
  settings: Pick<Settings, 'ALLOWED_CLIENTS' | 'ALLOWED_HOSTS' | 'CORS_ORIGINS'>,
): (request: IncomingMessage) => void {
  const isListed = createOriginCheck(settings.CORS_ORIGINS);
  const isAllowedHost = createHostCheck(settings.ALLOWED_HOSTS);
  const isAllowedClient = createClientCheck(settings.ALLOWED_CLIENTS);

  /** @throws GatewayError malformed-request, request-too-large, host-not-allowed, client-not-allowed */
  return (request) => {
    assertForm(request);
    const { headers, url = '/' } = request;
    const path = toPath(url);
    if (isProbe(path)) return;
    if (headers.host === undefined) throw malformed('The request has no Host header.');
    if (!isAllowedHost(headers.host, request.socket.localAddress)) {
      throw new GatewayError(
        'host-not-allowed',
        'The Host header is neither one of ALLOWED_HOSTS nor the address of this connection.',
      );
    }
    if (!isAllowedClient(request.socket)) {
      throw new GatewayError('client-not-allowed', 'The address of this connection is not in ALLOWED_CLIENTS.');
    }
    if (isCrossSite(headers) && isApi(path) && !isListed(headers.origin)) {
      throw new GatewayError(
        'client-not-allowed',
        'A page of another site made this call, and its origin is not in CORS_ORIGINS.',
      );
    }
  };
}

function assertForm(request: IncomingMessage): void {
  const { url = '', rawHeaders, headers } = request;
  // "GET / HTTP/2.0" gets through the parser
  if (request.httpVersionMajor !== 1) {
    throw malformed('This service supports only HTTP/1.1 and HTTP/1.0.');
  }
  if (url.length > MAX_URL_LENGTH) {
    throw new GatewayError('request-too-large', `The URL is longer than ${MAX_URL_LENGTH} characters.`, {
      status: 414,
    });
  }
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new GatewayError('request-too-large', `The request has more than ${MAX_HEADERS} headers.`, { status: 431 });
  }
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS')) {
    throw malformed('The request target is an absolute URL or is missing; send a path that begins with a slash.');
  }
  if (countHosts(rawHeaders) > 1) {
    throw malformed('The request has more than one Host header.');
  }
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    throw new GatewayError('request-too-large', 'This API takes no bodies.');
  }
}

/** A proxy in front may disagree on where the next request begins, so the connection is closed after this one. */
const malformed = (detail: string) =>
  new GatewayError('malformed-request', detail, { headers: { connection: 'close' } });

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/**
 * Creates a check for a Host header: one of the allowed names, or the IP address that accepted the connection, with or without
 * a port. The address is safe: load balancers and kubelets send it, and a page that uses DNS rebinding cannot.
 */
function createHostCheck(allowedHosts: readonly string[]): (host: string, localAddress?: string) => boolean {
  const allowed = new Set(allowedHosts);
  // most callers send the same name every time
  let lastAllowed = '';
  return (host, localAddress) => {
    if (host === lastAllowed) return true;
    const [, name = '', port = '80'] = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
    if (name === '' || Number(port) < 1 || Number(port) > 65_535) return false;
    if (!allowed.has(name)) return localAddress !== undefined && name === toLiteral(localAddress);
    lastAllowed = host;
    return true;
  };
}

/** Creates a check for the address of a connection; each connection is checked once. */
function createClientCheck(allowedClients: readonly string[]): (socket: Socket) => boolean {
  const isListed = createClientList(allowedClients);
  const known = new WeakMap<Socket, boolean>();
  return (socket) => {
    let allowed = known.get(socket);
    if (allowed === undefined) known.set(socket, (allowed = isListed(socket.remoteAddress ?? '')));
    return allowed;
  };
}

/** A socket address as written in Host: IPv6 in brackets and without a zone, IPv4 unchanged. */
function toLiteral(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  return plain.includes(':') ? `[${plain.toLowerCase()}]` : plain;
}

/**
 * True if a page of another site made the call. A navigation by the user does not count, such as a link to
 * a CSV: it has no Origin, and the other site cannot read the answer.
 */
function isCrossSite({
  'sec-fetch-site': site,
  'sec-fetch-mode': mode,
  'sec-fetch-dest': destination,
}: IncomingHttpHeaders): boolean {
  if (site === undefined || !String(site).toLowerCase().includes('cross-site')) return false;
  return mode !== 'navigate' || destination !== 'document';
}

/** True for a path of the API, decoded as the router does: %61pi is api. */
function isApi(path: string): boolean {
  try {
    return decodeURIComponent(path).startsWith('/api');
  } catch {
    return true;
  }
}
