import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../problems/gateway-error.js';
import type { HttpSettings } from '../config/settings.js';
import type { Connection } from './connection.js';
import { createOriginCheck } from './origins.js';

/** Open to probes of any kind; they tell the status only. */
const EXEMPT = new Set(['/health/live', '/health/ready']);
/** RFC 9110 §4.1 wants 8000 at least. */
const MAX_URL_LENGTH = 8000;
const MAX_HEADERS = 100;
const MAX_BODY_BYTES = 1024;

/**
 * Decides who may call (docs/api.md, Who may call): proper HTTP with one of our names as Host, from an allowed address,
 * and not from a page of another site in somebody's browser. Nothing is taken from a forwarding header.
 */
export function createGuard(
  settings: HttpSettings,
): (request: IncomingMessage, path: string, connection: Connection) => void {
  const isListed = createOriginCheck(settings.corsOrigins);
  const isAllowedHost = createHostCheck(settings.allowedHosts);

  /** @throws GatewayError malformed-request, request-too-large, overloaded, host-not-allowed, client-not-allowed */
  return (request, path, connection) => {
    assertForm(request);
    if (EXEMPT.has(path)) return;
    const { headers } = request;
    if (headers.host === undefined) throw malformed('The request has no Host header.');
    if (!isAllowedHost(headers.host)) {
      throw new GatewayError('host-not-allowed', 'The name in the Host header is not one of ALLOWED_HOSTS.');
    }
    if (!connection.allowed) {
      throw new GatewayError('client-not-allowed', 'The address of this connection is not in ALLOWED_CLIENTS.');
    }
    const site = headers['sec-fetch-site'];
    if (site !== undefined && isCrossSite(site) && isApi(path) && !isListed(headers.origin)) {
      throw new GatewayError(
        'client-not-allowed',
        'A page of another site made this call, and its origin is not in CORS_ORIGINS.',
      );
    }
    if (connection.beyondCap) {
      throw new GatewayError(
        'overloaded',
        `${settings.maxConnections} connections are open already (MAX_CONNECTIONS).`,
        { retryAfterMs: 1000 },
      );
    }
  };
}

function assertForm(request: IncomingMessage): void {
  const { url = '', rawHeaders, headers } = request;
  // "GET / HTTP/2.0" gets through the parser
  if (request.httpVersionMajor !== 1) {
    throw malformed('Only HTTP/1.1 and HTTP/1.0 are spoken here.');
  }
  if (url.length > MAX_URL_LENGTH) {
    throw new GatewayError('request-too-large', `The address is longer than ${MAX_URL_LENGTH} characters.`, {
      status: 414,
    });
  }
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new GatewayError('request-too-large', `The request has more than ${MAX_HEADERS} headers.`, { status: 431 });
  }
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS')) {
    throw malformed('The request names an absolute address or none; send a path that begins with a slash.');
  }
  if (countHosts(rawHeaders) > 1) {
    throw malformed('The request has more than one Host header.');
  }
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    throw new GatewayError('request-too-large', 'This API takes no bodies.');
  }
}

/** A program in front of us may not agree where the next request begins, so this one is the last of its connection. */
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

/** Tells whether a Host header is one of the allowed names, with or without a port. */
function createHostCheck(allowedHosts: readonly string[]): (host: string) => boolean {
  const allowed = new Set(allowedHosts);
  // callers send the same one again and again
  let lastAllowed = '';
  return (host) => {
    if (host === lastAllowed) return true;
    const [, name = '', port = '80'] = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
    if (!allowed.has(name) || Number(port) < 1 || Number(port) > 65_535) return false;
    lastAllowed = host;
    return true;
  };
}

const isCrossSite = (site: string | string[]): boolean => String(site).toLowerCase().includes('cross-site');

/** By the path as the router reads it, which takes %61pi for api. */
function isApi(path: string): boolean {
  try {
    return decodeURIComponent(path).startsWith('/api');
  } catch {
    return true;
  }
}
