import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../errors/gateway-error.js';
import { maxCachedAgeMs, maxLeadMs, type Freshness, type FreshnessLimits } from '../snapshot/freshness.js';
import type { ReadSnapshot, SnapshotReader } from '../list/snapshot-reader.js';
import type { Snapshot } from '../list/snapshot.js';
import type { Clock } from '../time/clock.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { RedisFailure, REQUEST_WAIT_MS, type RedisConnection } from './redis-connection.js';
import type { Look, RedisStore } from './redis-store.js';
import type { Group, SealedFacts } from './sealing.js';
import { TimeBudget } from './time-budget.js';

const POLL_EVERY_MS = 50;
/** The longest wait for another instance's refresh, ms; twice the last one's duration if that is longer. */
const PATIENCE_MS = 5000;
/** Tolerance for copies dated in the future. Beyond it, Redis' clock was set back, and the age of a copy is unknown. */
const CLOCK_MAY_DIFFER_MS = 1000;
const CLOSE_WITHIN_MS = 1000;

/** One refresh for all instances, through the value and the lock in Redis (docs/fleet.md#how-it-works). */
export class Fleet {
  #lastStoredAt: string | null = null;
  #lastTakenAt: string | null = null;
  /** Duration of the last refresh by any instance, ms. */
  #durationMs = 0;
  /** Background work after a refresh: storing or deleting, then releasing the lock. */
  #afterwards: Promise<void> = Promise.resolve();

  constructor(
    private readonly connection: RedisConnection,
    private readonly store: RedisStore,
    private readonly group: () => Promise<Group>,
    private readonly clock: Clock,
    private readonly limits: FreshnessLimits,
  ) {}

  /**
   * Takes an acceptable copy, waits until another instance has stored one, or reads from the bank.
   * @throws what `reader.read` throws, or the reason of `signal`
   */
  async read(reader: Pick<SnapshotReader, 'read'>, refreshId: string, signal: AbortSignal, wanted: Freshness) {
    const group = await this.group();
    const found = await this.#findOrLock(group, signal, wanted);
    const read =
      found && 'snapshot' in found
        ? found
        : await this.#readFromBank(group, found, (asOfMs) => reader.read(refreshId, signal, asOfMs));
    this.#durationMs = read.snapshot.durationMs;
    return read;
  }

  status() {
    const reason = this.connection.trouble;
    return {
      state: reason === null ? ('fleet' as const) : ('unavailable' as const),
      /** When this instance last stored a copy, ISO 8601; null for never. */
      lastStoredAt: this.#lastStoredAt,
      /** When this instance last took a copy, ISO 8601; null for never. */
      lastTakenAt: this.#lastTakenAt,
      /** The reason why Redis is unavailable, one word. */
      reason,
    };
  }

  /** Finishes the background work of the last refresh, within a second. */
  async close(): Promise<void> {
    await within(this.#afterwards, CLOSE_WITHIN_MS);
    this.connection.close();
  }

  /**
   * Returns an acceptable copy; else the last look, after which the bank may be asked: with the lock, or without it after the
   * longest wait. Returns null if Redis cannot be used.
   * @throws the reason of `signal`
   */
  async #findOrLock(group: Group, signal: AbortSignal, wanted: Freshness): Promise<ReadSnapshot | Look | null> {
    if (this.connection.trouble !== null) return null;
    const began = this.clock.now();
    let budget = new TimeBudget(REQUEST_WAIT_MS);
    // the lock of the last refresh is released first
    if ((await budget.within(this.#afterwards)) === TIMED_OUT) return null;
    try {
      const first = await this.store.lockAndLook(group, budget);
      const { leftMs } = budget;
      let look = first;
      for (;;) {
        const waitedMs = look === first ? 0 : this.clock.since(began);
        const isAcceptable = ({ asOfMs, durationMs }: SealedFacts): boolean => {
          const ageMs = this.#redisNow(look) - asOfMs;
          // one stored since, by a refresh that was in flight, may have begun earlier
          const wasInFlight = waitedMs > 0 && asOfMs > (first.facts?.asOfMs ?? -Infinity);
          const maxMs = Math.max(maxCachedAgeMs(wanted, durationMs, this.limits), wasInFlight ? maxLeadMs(wanted) : 0);
          return ageMs >= -CLOCK_MAY_DIFFER_MS && ageMs - waitedMs <= maxMs;
        };
        if (look.facts && isAcceptable(look.facts)) {
          const copy = await this.store.load(group, look, budget);
          // what was looked at was not authenticated, and may have been replaced
          if (copy && isAcceptable(copy.facts)) {
            if (look.locked) this.#inBackground(() => this.store.releaseLock(group));
            this.#lastTakenAt = this.#now();
            return { snapshot: copy.snapshot, pages: 0, source: 'shared' };
          }
          return look;
        }
        if (look.locked || waitedMs >= Math.max(PATIENCE_MS, 2 * this.#durationMs)) return look;
        await orAborted(delay(POLL_EVERY_MS), signal);
        // all looks but the last are part of the wait for the other instance
        budget = new TimeBudget(leftMs);
        look = await this.store.lockAndLook(group, budget);
      }
    } catch (error) {
      if (error instanceof RedisFailure) return null;
      throw error;
    }
  }

  /** @param look null while Redis cannot be used */
  async #readFromBank(group: Group, look: Look | null, read: (asOfMs?: number) => Promise<ReadSnapshot>) {
    if (!look) return read();
    if (look.locked) this.store.keepLock(group);
    const afterwards = (work: () => Promise<void>) => {
      this.#inBackground(() => work().finally(() => (look.locked ? this.store.releaseLock(group) : undefined)));
    };
    try {
      const result = await read(this.#redisNow(look));
      afterwards(() => this.#storeCopy(group, result.snapshot, look));
      return result;
    } catch (error) {
      const withdrawn = error instanceof GatewayError && error.code === 'access-not-granted';
      afterwards(async () => (withdrawn ? this.store.drop(group) : undefined));
      throw error;
    }
  }

  async #storeCopy(group: Group, snapshot: Snapshot, { at, redisMs }: Look): Promise<void> {
    const asOfMs = redisMs + snapshot.askedAt.monotonic - at.monotonic;
    if (await this.store.store(group, snapshot, asOfMs)) this.#lastStoredAt = this.#now();
  }

  /** The time by Redis' clock, ms since 1970: that of the look, continued by the clocks of this machine. */
  #redisNow({ at, redisMs }: Look): number {
    return redisMs + this.clock.since(at);
  }

  /** Runs work in the background. Ignores its errors: they have been logged, and the lock expires by itself. */
  #inBackground(work: () => Promise<void>): void {
    this.#afterwards = this.#afterwards.then(work).catch(() => undefined);
  }

  #now(): string {
    return new Date(this.clock.now().wall).toISOString();
  }
}
