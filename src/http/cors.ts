import type { IncomingHttpHeaders } from 'node:http';

const REQUEST_HEADERS = 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent, tracestate, baggage';
const EXPOSED_HEADERS =
  'Age, Content-Disposition, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Expires-At, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After';

/** Headers that let a page from a listed origin read a response, also one that rejects it. */
export const toCorsHeaders = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': EXPOSED_HEADERS,
});

export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-max-age': '600',
};

/** True if an OPTIONS is a preflight, for any path (the Fetch standard). */
export const isPreflight = (headers: IncomingHttpHeaders): boolean =>
  !!headers.origin && !!headers['access-control-request-method'];

/** Creates a check for listed origins; a final `:*` means any port or none. */
export function createOriginCheck(listed: readonly string[]): (origin: string | undefined) => boolean {
  const exact = new Set(listed);
  const anyPort = new Set(listed.filter((each) => each.endsWith(':*')).map((each) => each.slice(0, -2)));
  return (origin) => {
    // a listed `:*` is not an origin itself
    if (!origin || origin.endsWith('*')) return false;
    return exact.has(origin) || anyPort.has(origin.replace(/:\d{1,5}$/, ''));
  };
}

/** True for the origin of this gateway's own pages: the caller's Host, which the guard has checked. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const { protocol, host: named } = URL.parse(origin) ?? {};
  if (!host || (protocol !== 'http:' && protocol !== 'https:')) return false;
  return URL.parse(`${protocol}//${host}`)?.host === named;
}

/**
 * The page that made a call: one of this gateway, one of another origin, or none, as for a program and a typed address. By
 * Sec-Fetch-Site, which browsers send over HTTPS and to localhost only, else by Origin or Referer.
 */
export function siteOf(headers: IncomingHttpHeaders): 'own' | 'foreign' | 'none' {
  const { host, origin, referer, 'sec-fetch-site': site } = headers;
  const from = origin || referer;
  if (site ? site === 'none' : from === undefined) return 'none';
  return (site ? site === 'same-origin' : isOwnOrigin(from as string, host)) ? 'own' : 'foreign';
}

/** True for a call by the project's own pages (src/pages/console/web), which is not one by an app. */
export const isByOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers['x-client-name'] === 'console' && siteOf(headers) === 'own';
