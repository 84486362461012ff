import type { IncomingHttpHeaders } from 'node:http';

/** Creates a check for listed origins; `:*` at the end of one means any port or none. */
export function createOriginCheck(listed: readonly string[]): (origin: string | undefined) => boolean {
  const exact = new Set(listed);
  const anyPort = new Set(listed.filter((each) => each.endsWith(':*')).map((each) => each.slice(0, -2)));
  return (origin) => {
    // a listed `:*` is no origin by itself
    if (!origin || origin.endsWith('*')) return false;
    return exact.has(origin) || anyPort.has(origin.replace(/:\d{1,5}$/, ''));
  };
}

/** True for the origin of this gateway's own pages: the Host that the caller used, which the guard has checked, over HTTP or HTTPS. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const { protocol, host: named } = URL.parse(origin) ?? {};
  if (!host || (protocol !== 'http:' && protocol !== 'https:')) return false;
  return URL.parse(`${protocol}//${host}`)?.host.replace(FINAL_DOT, '') === named?.replace(FINAL_DOT, '');
}

/** True if a page of this gateway made the call. Browsers say so in one of three headers, over plain HTTP only in the last. */
export function isFromOwnPage({ host, origin, referer, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (site) return site === 'same-origin';
  const from = origin || referer;
  return from !== undefined && isOwnOrigin(from, host);
}

/** The final dot of a name, before the port. */
export const FINAL_DOT = /\.(?=$|:)/;
