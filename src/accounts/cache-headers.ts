import { createHash } from 'node:crypto';
import { expiresAt, toFreshMs, type FreshnessLimits } from '../cache/freshness.js';
import type { ServedSnapshot } from '../cache/snapshot-service.js';
import type { Snapshot } from '../snapshot/snapshot-source.js';

type Served = Pick<ServedSnapshot, 'stale' | 'cache' | 'failure' | 'retryInMs'> & {
  readonly snapshot: Pick<Snapshot, 'asOf' | 'complete'>;
};

/**
 * The headers that describe the age of a response (docs/api.md#headers). A cache subtracts `Age` from `max-age` (RFC
 * 9111). A stale response may be kept until another call can reach the bank, at least a second.
 */
export function toCacheHeaders(served: Served, ageMs: number, limits: FreshnessLimits): Record<string, string> {
  const { snapshot, stale, retryInMs } = served;
  const freshMs = toFreshMs(limits);
  const age = Math.floor(ageMs / 1000);
  const untilOld = Math.floor((freshMs - ageMs) / 1000);
  // a copy from an earlier run is stale, however young it is
  const leftSeconds = stale ? Math.min(0, untilOld) : untilOld;
  return {
    age: String(age),
    'cache-control': `private, max-age=${stale ? age + Math.max(1, Math.ceil(retryInMs / 1000)) : Math.floor(freshMs / 1000)}`,
    'cache-status': toCacheStatus(served, leftSeconds),
    'snapshot-as-of': snapshot.asOf,
    'snapshot-expires-at': expiresAt(snapshot, limits),
    'snapshot-stale': String(stale),
    'snapshot-complete': String(snapshot.complete),
  };
}

/** The entity tag of an export differs for each snapshot, because each CSV row contains the snapshot's time. */
export function toExportTag(served: ServedSnapshot, key: string): string {
  const { snapshot, stale } = served;
  const parts = [key, snapshot.asOf, snapshot.durationMs, stale, snapshot.complete];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return `W/"${digest.slice(0, 27)}"`;
}

/** Weak comparison of If-None-Match (RFC 9110 §13.1.2). */
export function matchesTag(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  if (header === etag) return true;
  const opaque = etag.replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

/** RFC 9211: `stale` where the cached snapshot was too old for this request. */
const FORWARDED = { miss: 'miss', refreshed: 'stale', request: 'request' } as const;

/** `detail` is the code of the failure behind a stale response. */
function toCacheStatus({ cache, failure }: Served, ttlSeconds: number): string {
  // when too many callers wait, the cache responds itself and forwards nothing
  const outcome = cache === 'hit' || failure === 'overloaded' ? 'hit' : `fwd=${FORWARDED[cache]}`;
  return `accounts-gateway; ${outcome}; ttl=${ttlSeconds}${failure === null ? '' : `; detail=${failure}`}`;
}
