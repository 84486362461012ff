import type { IncomingMessage } from 'node:http';

const REQUEST_HEADERS = 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent, tracestate, baggage';
const EXPOSED_HEADERS =
  'Age, Content-Disposition, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After';

/** Headers by which a page of a listed origin may read every response, refusals included. */
export const toCorsHeaders = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': EXPOSED_HEADERS,
});

/** Headers of the response to a preflight of a listed origin. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-max-age': '600',
};

/** True for a preflight, for any path (the Fetch standard). */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && !!headers.origin && !!headers['access-control-request-method'];
