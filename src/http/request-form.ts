import type { IncomingMessage } from 'node:http';
import { GatewayError, type GatewayErrorOptions } from '../errors/gateway-error.js';
import { hasLongSegment, isUndecodable, toPath } from './request-path.js';

/** RFC 9110 §4.1 wants 8000 at least. */
const MAX_URL_LENGTH = 8000;
const MAX_HEADERS = 100;
const MAX_BODY_BYTES = 1024;
const NO_BODIES = 'This API takes no bodies.';
const CLOSE: GatewayErrorOptions = { headers: { connection: 'close' } };

/**
 * Accepts proper HTTP/1 requests without a body to speak of. `url`: as the caller sent it.
 * @throws GatewayError malformed-request, request-too-large
 */
export function assertForm({ httpVersionMajor, method, rawHeaders, headers }: IncomingMessage, url: string): void {
  // "GET / HTTP/2.0" gets through the parser
  if (httpVersionMajor !== 1) throw malformed('This service supports only HTTP/1.1 and HTTP/1.0.');
  if (url.length > MAX_URL_LENGTH) throw tooLarge(`The URL is longer than ${MAX_URL_LENGTH} characters.`, 414);
  if (rawHeaders.length > 2 * MAX_HEADERS) throw tooLarge(`The request has more than ${MAX_HEADERS} headers.`, 431);
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) {
    throw malformed('The request target is an absolute URL or is missing; send a path that begins with a slash.');
  }
  if (countHosts(rawHeaders) > 1) throw malformed('The request has more than one Host header.');
  // not every proxy knows where such a body ends, least of all in HTTP/1.0 (RFC 9112 §6.1)
  if (headers['transfer-encoding'] !== undefined) throw tooLarge(NO_BODIES, 413, CLOSE);
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge(NO_BODIES, 413);
}

/**
 * Accepts paths that the router can read.
 * @throws GatewayError malformed-request, request-too-large
 */
export function assertReadablePath(url: string): void {
  const path = toPath(url);
  if (isUndecodable(path)) throw new GatewayError('malformed-request', 'The URL of the request is malformed.');
  if (hasLongSegment(path)) throw tooLarge('A part of the URL is too long.', 414);
}

/** A proxy in front may disagree on where the next request begins, so the connection is closed after this one. */
export const malformed = (detail: string): GatewayError => new GatewayError('malformed-request', detail, CLOSE);

const tooLarge = (detail: string, status: 413 | 414 | 431, options: GatewayErrorOptions = {}): GatewayError =>
  new GatewayError('request-too-large', detail, { ...options, status });

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
