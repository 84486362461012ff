import { Inject, Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Clock } from '../time/clock.js';
import { maxCachedAgeMs, toFreshMs, type Freshness, type FreshnessLimits } from './freshness.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** The one cached snapshot: never replaced by an older one, never served past its maximum age. */
@Injectable()
export class CachedSnapshot {
  #snapshot: Snapshot | null = null;
  #isRestored = false;
  #listedAccounts = false;

  constructor(
    private readonly clock: Clock,
    @Inject(Settings) private readonly limits: FreshnessLimits,
  ) {}

  /** The last snapshot, servable or not; null if its thread has died. */
  get snapshot(): Snapshot | null {
    return this.#snapshot?.list.hasEnded ? null : this.#snapshot;
  }

  /** Milliseconds since the bank was asked; Infinity without a snapshot. */
  get ageMs(): number {
    return this.snapshot ? this.#ageOf(this.snapshot) : Infinity;
  }

  get isFresh(): boolean {
    return !this.#isRestored && this.ageMs <= toFreshMs(this.limits);
  }

  /** True for a copy of an earlier run, until a refresh has succeeded. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** True when the last refresh listed no accounts and an earlier one had some. */
  get isEmptied(): boolean {
    return this.#listedAccounts && this.snapshot?.size === 0;
  }

  /** The snapshot, unless it is past its maximum age. */
  get servable(): Snapshot | null {
    return this.ageMs <= this.limits.SNAPSHOT_MAX_AGE_MS ? this.snapshot : null;
  }

  /** Time at which the snapshot stops being served, ISO 8601; null without one. */
  get expiresAt(): string | null {
    return this.snapshot && expiresAt(this.snapshot, this.limits);
  }

  /** The snapshot when it satisfies the caller without a refresh. */
  find(wanted: Freshness): Snapshot | null {
    const { snapshot } = this;
    if (!snapshot || this.#isRestored) return null;
    return this.ageMs <= maxCachedAgeMs(wanted, snapshot.durationMs, this.limits) ? snapshot : null;
  }

  /** Takes the result of a refresh, unless the cached snapshot is newer. Returns the one that is cached then. */
  replace(newer: Snapshot): Snapshot {
    const { snapshot: cached } = this;
    if (cached && this.#ageOf(newer) > this.#ageOf(cached)) {
      newer.list.retire();
      return cached;
    }
    this.drop();
    this.#listedAccounts ||= newer.size > 0;
    this.#snapshot = newer;
    return newer;
  }

  /** Takes a copy of an earlier run. */
  restore(earlier: Snapshot): void {
    this.replace(earlier);
    this.#isRestored = true;
  }

  /** Answers that are being built from it are still sent. */
  drop(): void {
    this.#snapshot?.list.retire();
    this.#snapshot = null;
    this.#isRestored = false;
  }

  /** Ends the thread of the list when the process stops. */
  async end(): Promise<void> {
    await this.#snapshot?.list.end();
  }

  #ageOf({ askedAt }: Snapshot): number {
    return Math.max(0, this.clock.since(askedAt));
  }
}

/** When a snapshot stops being served, ISO 8601. */
export function expiresAt(
  { asOf }: Pick<Snapshot, 'asOf'>,
  limits: Pick<FreshnessLimits, 'SNAPSHOT_MAX_AGE_MS'>,
): string {
  return new Date(Date.parse(asOf) + limits.SNAPSHOT_MAX_AGE_MS).toISOString();
}
