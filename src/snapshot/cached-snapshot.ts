import type { Clock } from '../time/clock.js';
import { maxCachedAgeMs, type Freshness, type FreshnessLimits } from './freshness.js';
import type { Snapshot } from './snapshot.js';

/** The one cached snapshot: never replaced by an older one, never served past its maximum age. */
export class CachedSnapshot {
  readonly #clock: Clock;
  readonly #limits: FreshnessLimits;
  #snapshot: Snapshot | null = null;
  #restored = false;
  #listedAccounts = false;

  constructor(clock: Clock, limits: FreshnessLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The last snapshot, servable or not. */
  get snapshot(): Snapshot | null {
    return this.#snapshot;
  }

  /** Milliseconds since the bank was asked; Infinity without a snapshot. */
  get ageMs(): number {
    return this.#snapshot ? this.#ageOf(this.#snapshot) : Infinity;
  }

  get isFresh(): boolean {
    return !this.#restored && this.ageMs <= Math.min(this.#limits.SNAPSHOT_FRESH_MS, this.#limits.SNAPSHOT_MAX_AGE_MS);
  }

  /** True for a copy of an earlier run, until a refresh has succeeded. */
  get isRestored(): boolean {
    return this.#restored;
  }

  /** True when the last refresh listed no accounts and an earlier one had some. */
  get isEmptied(): boolean {
    return this.#listedAccounts && this.#snapshot?.size === 0;
  }

  /** The snapshot, unless it is past its maximum age. */
  get servable(): Snapshot | null {
    return this.ageMs <= this.#limits.SNAPSHOT_MAX_AGE_MS ? this.#snapshot : null;
  }

  /** Time at which the snapshot stops being served, ISO 8601; null without one. */
  get expiresAt(): string | null {
    return this.#snapshot && new Date(Date.parse(this.#snapshot.asOf) + this.#limits.SNAPSHOT_MAX_AGE_MS).toISOString();
  }

  /** The snapshot when it satisfies the caller without a refresh. */
  find(wanted: Freshness): Snapshot | null {
    if (!this.#snapshot || this.#restored) return null;
    return this.ageMs <= maxCachedAgeMs(wanted, this.#snapshot.durationMs, this.#limits) ? this.#snapshot : null;
  }

  /** Takes the result of a refresh, unless the cached snapshot is newer. Returns the one that is cached then. */
  replace(newer: Snapshot): Snapshot {
    if (this.#snapshot && this.#ageOf(newer) > this.#ageOf(this.#snapshot)) return this.#snapshot;
    if (newer.size > 0) this.#listedAccounts = true;
    this.#restored = false;
    this.#snapshot = newer;
    return newer;
  }

  /** Takes a copy of an earlier run, unless there is a snapshot of this one. Returns whether it was taken. */
  restore(earlier: Snapshot): boolean {
    if (this.#snapshot) return false;
    this.replace(earlier);
    this.#restored = true;
    return true;
  }

  drop(): void {
    this.#snapshot = null;
    this.#restored = false;
  }

  /** Accepts an empty list as correct. */
  acceptEmptied(): void {
    if (this.isEmptied) this.#listedAccounts = false;
  }

  #ageOf({ askedAt }: Snapshot): number {
    return Math.max(0, this.#clock.since(askedAt));
  }
}
