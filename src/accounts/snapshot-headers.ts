import { toAsOf, type ServedSnapshot } from './snapshot-keeper.js';

/** The headers by which an answer tells its age (contract §3, Freshness). Age in whole seconds. */
export function toSnapshotHeaders(
  { snapshot, ageMs, stale, cache }: ServedSnapshot,
  freshMs: number,
): Record<string, string> {
  const leftSeconds = stale ? 0 : Math.max(0, Math.floor((freshMs - ageMs) / 1000));
  const ttlSeconds = Math.floor((freshMs - ageMs) / 1000);
  return {
    age: String(Math.floor(ageMs / 1000)),
    'cache-control': `private, max-age=${leftSeconds}`,
    'cache-status': `accounts-gateway; ${cache === 'hit' ? 'hit' : `fwd=${cache}`}; ttl=${ttlSeconds}`,
    'snapshot-as-of': toAsOf(snapshot),
    'snapshot-stale': String(stale),
    'snapshot-complete': String(snapshot.complete),
    vary: 'Accept, Accept-Encoding, Origin',
  };
}
