import type { Settings } from '../config/settings.js';
import type { StoredCopy } from '../snapshot/snapshot-source.js';

/** Freshness that a caller asks for through Cache-Control (RFC 9111 §5.2.1, docs/api.md#freshness). */
export interface Freshness {
  readonly noCache: boolean;
  /** Seconds. */
  readonly maxAge: number | null;
  readonly onlyIfCached: boolean;
}

export type FreshnessLimits = Pick<Settings, 'SNAPSHOT_FRESH_MS' | 'SNAPSHOT_MAX_AGE_MS'>;

export const ANY: Freshness = { noCache: false, maxAge: null, onlyIfCached: false };

/** A refresh this young counts as current for `no-cache`, however fast it was. */
const MIN_CURRENT_MS = 1000;

/**
 * Reads a caller's Cache-Control (RFC 9111 §5.2.1): no-cache, max-age and only-if-cached. Ignores all other
 * directives. A max-age that is not a number counts as 0, as the RFC recommends.
 */
export function readCacheDirectives(header: string | undefined): Freshness {
  if (header === undefined) return ANY;
  let noCache = false;
  let onlyIfCached = false;
  let maxAge: number | null = null;
  for (const part of header.split(',')) {
    const [name = '', value = ''] = part.trim().toLowerCase().split('=', 2);
    if (name === 'no-cache') noCache = true;
    else if (name === 'only-if-cached') onlyIfCached = true;
    else if (name === 'max-age') maxAge = /^"?\d+"?$/.test(value) ? Number(value.replaceAll('"', '')) : 0;
  }
  return { noCache, onlyIfCached, maxAge };
}

/** False for callers who bound the age themselves: they wait for the bank and never get a stale copy. */
export const allowsStale = ({ noCache, maxAge }: Freshness): boolean => !noCache && maxAge === null;

/** Greatest age, ms, of a cached copy that is served without a refresh. */
export function maxCachedAgeMs(wanted: Freshness, durationMs: number, limits: FreshnessLimits): number {
  const wantedMs = wanted.noCache
    ? currentWithinMs(durationMs)
    : Math.min(limits.SNAPSHOT_FRESH_MS, toMs(wanted.maxAge));
  return Math.min(limits.SNAPSHOT_MAX_AGE_MS, wantedMs);
}

/** Greatest age, ms, of a copy for a caller who forbids a refresh (`only-if-cached`). */
export function maxAgeWithoutRefreshMs({ noCache, maxAge }: Freshness, durationMs: number): number {
  return noCache ? currentWithinMs(durationMs) : toMs(maxAge);
}

/** Maximum time, ms, by which a refresh may have started before the request that waits for it. */
export const maxLeadMs = ({ maxAge }: Freshness): number => toMs(maxAge);

/**
 * True if the result of a refresh satisfies a caller who waited for it.
 * @param leadMs how long before the request the bank was asked; negative when it was asked later
 */
export function satisfies(wanted: Freshness, leadMs: number, durationMs: number, limits: FreshnessLimits): boolean {
  if (wanted.noCache) return leadMs <= currentWithinMs(durationMs);
  return leadMs <= (wanted.maxAge === null ? Math.max(limits.SNAPSHOT_MAX_AGE_MS, durationMs) : maxLeadMs(wanted));
}

/** True if another instance's copy satisfies a caller instead of a refresh that begins now. */
export function acceptsCopy(wanted: Freshness, copy: StoredCopy, limits: FreshnessLimits): boolean {
  const maxMs = maxCachedAgeMs(wanted, copy.durationMs, limits);
  if (copy.leadMs <= maxMs) return true;
  // it was in flight already, as a refresh that callers of this instance join may be
  return copy.isAwaited && copy.leadMs <= maxLeadMs(wanted);
}

/** A refresh no older than this counts as current, ms. */
const currentWithinMs = (durationMs: number): number => Math.max(MIN_CURRENT_MS, durationMs);

const toMs = (seconds: number | null): number => (seconds === null ? Infinity : seconds * 1000);
