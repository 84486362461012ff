import type { Freshness } from '../snapshot/freshness.js';

/**
 * Reads a caller's Cache-Control (RFC 9111 §5.2.1): no-cache, max-age and only-if-cached; everything else is
 * left aside. A max-age that is no number counts as 0, as the RFC asks for nonsense.
 */
export function readCacheDirectives(header: string | undefined): Freshness {
  let noCache = false;
  let onlyIfCached = false;
  let maxAge: number | null = null;
  for (const part of header?.split(',') ?? []) {
    const [name = '', value = ''] = part.trim().toLowerCase().split('=', 2);
    if (name === 'no-cache') noCache = true;
    else if (name === 'only-if-cached') onlyIfCached = true;
    else if (name === 'max-age') maxAge = /^"?\d+"?$/.test(value) ? Number(value.replaceAll('"', '')) : 0;
  }
  return { noCache, onlyIfCached, maxAge };
}
