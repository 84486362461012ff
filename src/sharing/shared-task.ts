import type { Logger } from 'pino';
import type { Clock, Instant } from '../time/clock.js';
import { TIMED_OUT } from '../time/deadline.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { FleetKeys } from './fleet-keys.js';
import { BACKGROUND_MS, type LeaseStore, type Seen } from './lease-store.js';
import { TimeBudget } from './time-budget.js';
import { RedisFailure, type RedisLink } from './redis-link.js';
import { Refused } from './sealing.js';
import type { ServerTime } from './server-time.js';
import { concernsAll, openWait, sealWait, toSharedWait, toWaiting, type SharedWait } from './shared-wait.js';

/** What a caller waits for Redis at most, in all (docs/fleet.md#when-redis-is-away). */
const BUDGET_MS = 200;

/** A result that is there already, as an instance finds it. */
export interface Found {
  readonly fence: number;
  /** Sealed. */
  readonly record: Buffer;
  readonly time: ServerTime;
  /** Somebody was at it when this instance began to ask; it was begun then, at the latest. */
  readonly wasInFlight: boolean;
  /** How long this instance has waited for it, ms. */
  readonly waitedMs: number;
  /** What is older was dropped by this instance, ms by Redis' clock. */
  readonly droppedAt: number;
}

/** What stands for a result, and is stored last. */
interface Stored {
  /** Sealed. */
  readonly record: Buffer;
  /** How many pieces of the result lie beside it. */
  readonly pieces: number;
  readonly lastsMs: number;
}

/** How one kind of work is done, stored and found. */
export interface Job<T> {
  /** What is stored, if it will do. @throws Refused, RedisFailure */
  find(found: Found): Promise<T | null>;
  /** Asks the bank; `time` is null when Redis is away. */
  work(time: ServerTime | null): Promise<T>;
  /** Stores a result but for its record, which it gives; null when the result is gone. @throws RedisFailure */
  store(value: T, fence: number, time: ServerTime): Promise<Stored | null>;
  /** Tidies up a result that is read no more. */
  replaced?(fence: number, pieces: number): void;
}

/** Who asked the bank: this instance, or another. */
export interface Done<T> {
  readonly value: T;
  readonly source: 'bank' | 'shared';
}

interface Parts {
  readonly name: string;
  readonly store: LeaseStore;
  readonly link: RedisLink;
  readonly keys: FleetKeys;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Work at the bank that is done once for the fleet, whichever instance needs it: under a lease, with a fence that a late
 * writer is refused by, with the waiting after failures shared (docs/fleet.md#how-it-works). Where Redis is of no use, it is done here.
 */
export class SharedTask {
  readonly store: LeaseStore;
  readonly #parts: Parts;
  /** Its fence, while this instance does the work for all. */
  #lease: number | null = null;
  /** What this instance has done and is storing. */
  #storing: Promise<void> | null = null;
  /** Waits, and results, that are older count no more. */
  #resetAt: Instant | null = null;
  #droppedAt: Instant | null = null;
  #refused = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.store = parts.store;
  }

  /** The result of the work, done here or elsewhere. @throws GatewayError as the work does, or the reason of `signal` */
  async run<T>(job: Job<T>, signal?: AbortSignal): Promise<Done<T>> {
    if (!this.#parts.link.up) return this.#alone(job);
    try {
      return await this.#together(job, signal);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      return this.#alone(job);
    }
  }

  /** Waits that have begun by now are over: the next one may ask the bank at once. */
  resetWait(): void {
    this.#resetAt = this.#parts.clock.now();
  }

  /** The failure that the fleet waits after now, or null. @throws RedisFailure */
  async waiting(): Promise<GatewayError | null> {
    return this.#waiting(await this.store.enter(false, BUDGET_MS));
  }

  /** Takes away what is stored; what cannot be reached now is not used here, and false is given. */
  async drop(): Promise<boolean> {
    this.#droppedAt = this.#parts.clock.now();
    return this.store.drop().then(
      () => true,
      () => false,
    );
  }

  /** Lets what is being stored end, and leaves what is being done to the others. */
  async leave(): Promise<void> {
    await this.#storing;
    if (this.#lease !== null) await this.store.release(this.#lease);
  }

  async #together<T>(job: Job<T>, signal?: AbortSignal): Promise<Done<T>> {
    const { clock } = this.#parts;
    const began = clock.now();
    let budget = new TimeBudget(BUDGET_MS);
    let inFlight = Infinity;
    // what this instance has just done is found once it is stored
    if (this.#storing && (await budget.within(this.#storing)) === TIMED_OUT) return this.#alone(job);
    for (;;) {
      const judge = (seen: Seen) => this.#judge(job, seen, inFlight, clock.since(began));
      let seen = await this.store.enter(false, budget);
      const found = await judge(seen);
      if (found !== null) return { value: found, source: 'shared' };
      if (seen.holder === null) {
        seen = await this.store.enter(true, budget);
        if (seen.fence > 0) return await this.#underLease(job, seen, judge);
      }
      inFlight = Math.min(inFlight, seen.holder ?? Infinity);
      await this.store.announced(signal);
      budget = new TimeBudget(BUDGET_MS);
    }
  }

  async #underLease<T>(job: Job<T>, taken: Seen, judge: (seen: Seen) => Promise<T | null>): Promise<Done<T>> {
    const { fence, time } = taken;
    // between the two looks another may have done it
    const found = await judge(taken).catch((error: unknown) => {
      void this.store.release(fence);
      throw error;
    });
    if (found !== null) {
      void this.store.release(fence);
      return { value: found, source: 'shared' };
    }
    const letGo = this.store.hold(fence);
    this.#lease = fence;
    const end = () => {
      letGo();
      this.#lease = null;
    };
    try {
      const value = await job.work(time);
      this.#storing = this.#store(job, value, taken).finally(() => {
        end();
        this.#storing = null;
      });
      return { value, source: 'bank' };
    } catch (thrown) {
      end();
      throw this.#giveUp(thrown, taken);
    }
  }

  /** As if there were no others; what comes of it is stored for them where that may go well. */
  async #alone<T>(job: Job<T>): Promise<Done<T>> {
    const value = await job.work(null);
    if (this.#parts.link.reachable && !this.#storing) {
      this.#storing = this.#storeAfterwards(job, value).finally(() => {
        this.#storing = null;
      });
    }
    return { value, source: 'bank' };
  }

  async #storeAfterwards<T>(job: Job<T>, value: T): Promise<void> {
    const taken = await this.store.enter(true, BACKGROUND_MS).catch(() => null);
    if (taken && taken.fence > 0) await this.#store(job, value, taken);
  }

  async #store<T>(job: Job<T>, value: T, { fence, time }: Seen): Promise<void> {
    const { link } = this.#parts;
    try {
      const stored = await job.store(value, fence, time);
      if (!stored) return await this.store.release(fence);
      const old = await this.store.commit(fence, stored.record, stored.pieces, stored.lastsMs);
      link.well('store');
      job.replaced?.(old.fence, old.pieces);
    } catch (error) {
      const failure = error instanceof RedisFailure ? error : new RedisFailure('unknown');
      link.failed(failure.refused ? 'store' : 'commands', failure);
      await this.store.release(fence);
    }
  }

  /** Tells the others what was failed with, where it concerns them. Gives what is to be thrown. */
  #giveUp(thrown: unknown, { fence, time, wait }: Seen): unknown {
    if (!concernsAll(thrown)) {
      void this.store.release(fence);
      return thrown;
    }
    const shared = toSharedWait(thrown, this.#openWait(wait), time.now());
    const { sealed, lastsMs } = sealWait(shared, this.#parts.keys);
    void this.store.fail(fence, sealed, lastsMs, thrown.code === 'access-not-granted').catch(() => undefined);
    return thrown.waiting(shared.waitMs);
  }

  /** What is stored, if it will do. @throws GatewayError when a failure is being waited after */
  async #judge<T>(job: Job<T>, seen: Seen, inFlight: number, waitedMs: number): Promise<T | null> {
    const { time, result } = seen;
    if (seen.garbage) this.#refuse(new Refused('damaged'));
    if (result) {
      try {
        const droppedAt = this.#droppedAt ? time.of(this.#droppedAt) : -Infinity;
        const value = await job.find({ ...result, time, wasInFlight: result.fence >= inFlight, waitedMs, droppedAt });
        this.#refused = false;
        if (value !== null) return value;
      } catch (error) {
        this.#refuse(error);
      }
    }
    const waiting = this.#waiting(seen);
    if (waiting) throw waiting;
    return null;
  }

  #waiting({ wait, time }: Seen): GatewayError | null {
    const shared = this.#openWait(wait);
    const over = this.#resetAt !== null && shared !== null && shared.at <= time.of(this.#resetAt);
    return shared && !over ? toWaiting(shared, time.now()) : null;
  }

  #openWait(sealed: Buffer): SharedWait | null {
    if (sealed.length === 0) return null;
    try {
      return openWait(sealed, this.#parts.keys);
    } catch (error) {
      this.#refuse(error);
      return null;
    }
  }

  #refuse(error: unknown): void {
    if (!(error instanceof Refused)) throw error;
    if (this.#refused) return;
    this.#refused = true;
    const { logger, name } = this.#parts;
    const what = name.replace(/-.*/, '');
    const { reason } = error;
    logger.warn({ event: 'sharing.refused', what, reason }, `what lies in Redis is ignored: it is ${reason}`);
  }
}
