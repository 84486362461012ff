import type { ServedSnapshot } from './snapshot-keeper.js';

/** The headers by which an answer tells its age (contract §3, Freshness). Age in whole seconds. */
export function toSnapshotHeaders(served: ServedSnapshot, freshMs: number): Record<string, string> {
  const { snapshot, ageMs, stale } = served;
  const leftSeconds = Math.floor((freshMs - ageMs) / 1000);
  return {
    age: String(Math.floor(ageMs / 1000)),
    'cache-control': `private, max-age=${stale ? 0 : Math.max(0, leftSeconds)}`,
    'cache-status': toCacheStatus(served, leftSeconds),
    'snapshot-as-of': snapshot.asOf,
    'snapshot-stale': String(stale),
    'snapshot-complete': String(snapshot.complete),
    vary: 'Accept, Accept-Encoding, Origin',
  };
}

/** How this cache handled the request (RFC 9211): `detail` is the code of the failure that a stale answer hides. */
function toCacheStatus({ cache, collapsed, failure }: ServedSnapshot, ttlSeconds: number): string {
  const way = cache === 'hit' ? 'hit' : `fwd=${cache}${collapsed ? '; collapsed' : ''}`;
  return `accounts-gateway; ${way}; ttl=${ttlSeconds}${failure === null ? '' : `; detail=${failure}`}`;
}
