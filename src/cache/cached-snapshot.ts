import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import type { Snapshot } from '../snapshot/snapshot-source.js';
import { Clock } from '../time/clock.js';
import { maxCachedAgeMs, toFreshMs, type Freshness } from './freshness.js';

/** The one cached snapshot: an older one never replaces it, and it is never served past its maximum age. */
@Injectable()
export class CachedSnapshot {
  #snapshot: Snapshot | null = null;
  #listedAccounts = false;

  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** The last snapshot, even if it is too old to serve; null if its thread has died. */
  get snapshot(): Snapshot | null {
    return this.#snapshot?.list.hasEnded ? null : this.#snapshot;
  }

  /** Infinity without a snapshot. */
  get ageMs(): number {
    return this.snapshot ? toAgeMs(this.clock, this.snapshot) : Infinity;
  }

  get isFresh(): boolean {
    return !this.isRestored && this.ageMs <= toFreshMs(this.settings);
  }

  get isRestored(): boolean {
    return this.snapshot?.isRestored ?? false;
  }

  /** True if the last refresh returned no accounts although an earlier one returned some. */
  get isEmptied(): boolean {
    return this.#listedAccounts && this.snapshot?.size === 0;
  }

  get servable(): Snapshot | null {
    return this.ageMs <= this.settings.SNAPSHOT_MAX_AGE_MS ? this.snapshot : null;
  }

  /** The snapshot if it satisfies the caller without a refresh. */
  find(wanted: Freshness): Snapshot | null {
    const { snapshot } = this;
    if (!snapshot || snapshot.isRestored) return null;
    return this.ageMs <= maxCachedAgeMs(wanted, snapshot.durationMs, this.settings) ? snapshot : null;
  }

  /** Returns false and takes nothing if the cached snapshot is newer. */
  replace(newer: Snapshot): boolean {
    const { snapshot: cached } = this;
    if (cached && toAgeMs(this.clock, newer) > toAgeMs(this.clock, cached)) {
      newer.list.retire();
      return false;
    }
    this.drop();
    this.#listedAccounts ||= newer.size > 0;
    this.#snapshot = newer;
    return true;
  }

  /** Responses that are being built from it are still sent, unless its memory is needed. */
  drop(): void {
    this.#snapshot?.list.retire();
    this.#snapshot = null;
  }

  async end(): Promise<void> {
    await this.#snapshot?.list.end();
  }
}

/** Milliseconds since the bank was asked, at least 0. */
export const toAgeMs = (clock: Clock, { askedAt }: Pick<Snapshot, 'askedAt'>): number =>
  Math.max(0, clock.since(askedAt));
