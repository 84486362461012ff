import type { Settings } from '../config/settings.js';
import type { Snapshot, StoredCopy } from '../snapshot/snapshot-source.js';

/** A caller's wish, from Cache-Control (RFC 9111 §5.2.1, docs/api.md#freshness). */
export interface Freshness {
  /** Ask the bank now, and never serve a stale copy: `no-cache` or `max-age=0`. */
  readonly noCache: boolean;
  readonly maxAgeMs: number;
  /** Maximum age of a copy served because the bank is slow or failing. */
  readonly maxStaleAgeMs: number;
}

export type FreshnessLimits = Pick<Settings, 'SNAPSHOT_FRESH_MS' | 'SNAPSHOT_MAX_AGE_MS'>;

export const ANY: Freshness = { noCache: false, maxAgeMs: Infinity, maxStaleAgeMs: Infinity };
export const NOW: Freshness = { noCache: true, maxAgeMs: Infinity, maxStaleAgeMs: -Infinity };

/** For `no-cache`, a refresh counts as current up to this age, however fast it was, or to its own duration. */
const MIN_CURRENT_MS = 1000;

/** Reads no-cache, max-age and max-stale. A max-age that is not a number counts as 0, as the RFC recommends. */
export function readCacheDirectives(header: string | undefined): Freshness {
  if (!header) return ANY;
  let maxAgeMs = Infinity;
  let staleMs = 0;
  for (const part of header.split(',')) {
    const [name = '', value = ''] = part.trim().toLowerCase().split('=', 2);
    if (name === 'no-cache') return NOW;
    if (name === 'max-age') maxAgeMs = Math.min(maxAgeMs, toMs(value) ?? 0);
    // without a number of seconds, any age is acceptable
    else if (name === 'max-stale') staleMs = toMs(value) ?? Infinity;
  }
  return maxAgeMs === 0 ? NOW : { noCache: false, maxAgeMs, maxStaleAgeMs: maxAgeMs + staleMs };
}

export const toFreshMs = ({ SNAPSHOT_FRESH_MS, SNAPSHOT_MAX_AGE_MS }: FreshnessLimits): number =>
  Math.min(SNAPSHOT_FRESH_MS, SNAPSHOT_MAX_AGE_MS);

/** Time at which a snapshot stops being served, ISO 8601. */
export const expiresAt = (
  { asOf }: Pick<Snapshot, 'asOf'>,
  limits: Pick<FreshnessLimits, 'SNAPSHOT_MAX_AGE_MS'>,
): string => new Date(Date.parse(asOf) + limits.SNAPSHOT_MAX_AGE_MS).toISOString();

/** Maximum age of a cached copy served without a refresh. */
export function maxCachedAgeMs(wanted: Freshness, durationMs: number, limits: FreshnessLimits): number {
  if (wanted.noCache) return Math.min(limits.SNAPSHOT_MAX_AGE_MS, currentWithinMs(durationMs));
  return Math.min(toFreshMs(limits), wanted.maxAgeMs);
}

/**
 * True if the result of a refresh satisfies a caller who waited for it.
 * @param leadMs time from the start of the refresh to the caller's request; negative if the refresh began later
 */
export function satisfies(wanted: Freshness, leadMs: number, durationMs: number, limits: FreshnessLimits): boolean {
  if (wanted.noCache) return leadMs <= currentWithinMs(durationMs);
  return leadMs <= Math.min(wanted.maxAgeMs, Math.max(limits.SNAPSHOT_MAX_AGE_MS, durationMs));
}

/** True if another instance's copy satisfies a caller instead of a refresh that begins now. */
export function acceptsCopy(wanted: Freshness, { leadMs, durationMs }: StoredCopy, limits: FreshnessLimits): boolean {
  if (leadMs <= maxCachedAgeMs(wanted, durationMs, limits)) return true;
  // its refresh may have been in flight already, like one that callers of this instance join
  return leadMs <= Math.min(durationMs, wanted.maxAgeMs);
}

const currentWithinMs = (durationMs: number): number => Math.max(MIN_CURRENT_MS, durationMs);

/** From seconds, quoted or not; null if the text is not a number. */
const toMs = (seconds: string): number | null =>
  /^(\d+|"\d+")$/.test(seconds) ? Number(seconds.replaceAll('"', '')) * 1000 : null;
