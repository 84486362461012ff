import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import {
  SnapshotSource,
  type ReadSnapshot,
  type RefreshRequest,
  type SharingStatus,
} from '../snapshot/snapshot-source.js';
import { later, type Clock, type Instant } from '../time/clock.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { RedisConnection, RedisFailure, type RedisSettings } from './redis-connection.js';
import { RedisStore, type Look } from './redis-store.js';
import { Refused, type Group, type SealedFacts } from './sealing.js';
import { toSnapshot } from './stored-snapshot.js';
import { TimeBudget } from './time-budget.js';

const POLL_EVERY_MS = 50;
/** The longest wait for another instance's refresh, ms; twice the last one's duration if that is longer. */
const PATIENCE_MS = 5000;
/** Waits in vain, one after the other, after which a lock that is never released is ignored. */
const MAX_VAIN_WAITS = 2;
/** Tolerance for copies dated in the future. Beyond it, Redis' clock was set back, and the age of a copy is unknown. */
const CLOCK_MAY_DIFFER_MS = 1000;
const CLOSE_WITHIN_MS = 1000;

interface RedisSourceParts {
  readonly connection: RedisConnection;
  readonly store: RedisStore;
  readonly group: () => Promise<Group>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<Settings, 'SNAPSHOT_READ_TIMEOUT_MS'>;
}

/** A wait for a copy: when it began, and the copy that was there then. */
interface Wait {
  readonly began: Instant;
  readonly firstAsOfMs: number;
}

/**
 * A copy that is accepted; else the last look, after which the source is read: with the lock, or without it after the longest
 * wait. The look is null if Redis cannot be used.
 */
type Found = { readonly copy: ReadSnapshot } | { readonly look: Look | null };

/** One refresh for all instances, through the value and the lock in Redis (docs/fleet.md#how-it-works), around another source. */
export class RedisSource extends SnapshotSource {
  readonly #parts: RedisSourceParts;
  #lastStoredAt: string | null = null;
  #lastTakenAt: string | null = null;
  /** Duration of the last refresh by any instance, ms. */
  #durationMs = 0;
  #vainWaits = 0;
  /** Background work after a refresh: storing or deleting, then releasing the lock. */
  #afterwards: Promise<void> = Promise.resolve();
  /** True if a refresh waited for that work in vain: the next ones do not, until it has ended. */
  #isHeldUp = false;

  /** Connects to Redis, waiting at most 1.2 s. */
  static async connect(
    source: SnapshotSource,
    settings: Settings & RedisSettings,
    parts: Pick<RedisSourceParts, 'group' | 'clock' | 'logger'>,
    waitMs?: number,
  ): Promise<RedisSource> {
    const connection = new RedisConnection(settings, parts.logger, parts.clock, waitMs);
    await connection.connect();
    const store = new RedisStore(connection, settings, parts.clock, parts.logger);
    return new RedisSource(source, { ...parts, connection, store, settings });
  }

  constructor(
    private readonly source: SnapshotSource,
    parts: RedisSourceParts,
  ) {
    super();
    this.#parts = parts;
  }

  /**
   * Takes a stored copy that is accepted, waits until another instance has stored one, or reads from the source.
   * @throws what the source throws, or the reason of the signal
   */
  override async read(request: RefreshRequest): Promise<ReadSnapshot> {
    const group = await this.#parts.group();
    const found = await this.#find(group, request);
    const read = 'copy' in found ? found.copy : await this.#readFromSource(group, found.look, request);
    this.#durationMs = read.snapshot.durationMs;
    return read;
  }

  override get isShared(): boolean {
    return true;
  }

  /** Looks once, and leaves the lock to instances that can ask the bank. */
  override async readShared(request: RefreshRequest): Promise<ReadSnapshot | null> {
    const { connection, store, clock } = this.#parts;
    if (connection.trouble !== null) return null;
    const group = await this.#parts.group();
    const began = clock.now();
    try {
      const look = await store.look(group, new TimeBudget(connection.waitMs));
      return await this.#takeCopy(group, look, toWait(began, look), request);
    } catch (error) {
      if (error instanceof RedisFailure) return null;
      throw error;
    }
  }

  /** Finishes the background work of the last refresh, within a second. */
  override async close(): Promise<void> {
    await within(this.#afterwards, CLOSE_WITHIN_MS);
    this.#parts.connection.close();
    await this.source.close();
  }

  override status(): SharingStatus {
    const reason = this.#parts.connection.trouble;
    const state = reason === null ? 'fleet' : 'unavailable';
    const redis = { state, lastStoredAt: this.#lastStoredAt, lastTakenAt: this.#lastTakenAt, reason } as const;
    return { ...this.source.status(), redis };
  }

  /** Finds a copy that is accepted, or none. @throws the reason of the signal */
  async #find(group: Group, request: RefreshRequest): Promise<Found> {
    const { connection, store, clock } = this.#parts;
    if (connection.trouble !== null || this.#isHeldUp) return { look: null };
    const budget = new TimeBudget(connection.waitMs);
    // the lock of the last refresh is released first
    if ((await budget.within(this.#afterwards)) === TIMED_OUT) {
      this.#isHeldUp = true;
      return { look: null };
    }
    const began = clock.now();
    try {
      const look = await store.lockAndLook(group, budget);
      return await this.#waitForCopy(group, look, toWait(began, look), budget.leftMs, request);
    } catch (error) {
      if (error instanceof RedisFailure) return { look: null };
      throw error;
    }
  }

  /**
   * Looks again while another instance has the lock, within the longest wait.
   * @param leftMs how long each look may wait for Redis
   */
  async #waitForCopy(group: Group, first: Look, wait: Wait, leftMs: number, request: RefreshRequest): Promise<Found> {
    for (let look = first; ;) {
      const copy = await this.#takeCopy(group, look, wait, request);
      if (copy) {
        this.#vainWaits = 0;
        return { copy };
      }
      if (look.locked || !this.#mayWait(wait)) return { look };
      await orAborted(delay(POLL_EVERY_MS), request.signal);
      // the wait for the other instance does not count as one for Redis
      look = await this.#parts.store.lockAndLook(group, new TimeBudget(leftMs));
    }
  }

  /** Null if there is no copy, or none that is accepted. */
  async #takeCopy(group: Group, look: Look, wait: Wait, request: RefreshRequest): Promise<ReadSnapshot | null> {
    const { store } = this.#parts;
    if (!look.facts || !this.#isAccepted(look.facts, look, wait, request)) return null;
    const copy = await store.load(group, look);
    // what was looked at was not authenticated, and may have been replaced
    if (!copy || !this.#isAccepted(copy.facts, look, wait, request)) return null;
    const askedAt = later(look.at, copy.facts.asOfMs - look.redisMs);
    const snapshot = await toSnapshot(copy, askedAt).catch(toNullIfRefused);
    if (!snapshot) return null;
    if (look.locked) this.#inBackground(() => store.releaseLock(group));
    this.#lastTakenAt = this.#now();
    return { snapshot, pages: 0, source: 'shared' };
  }

  #isAccepted({ asOfMs, durationMs }: SealedFacts, look: Look, wait: Wait, { accepts }: RefreshRequest): boolean {
    const ageMs = this.#toRedisMs(this.#parts.clock.now(), look) - asOfMs;
    if (ageMs < -CLOCK_MAY_DIFFER_MS) return false;
    const leadMs = ageMs - this.#parts.clock.since(wait.began);
    return accepts({ leadMs, durationMs, isAwaited: asOfMs > wait.firstAsOfMs });
  }

  /** False once another instance has been waited for long enough, and while its lock has been waited for in vain. */
  #mayWait({ began }: Wait): boolean {
    const { clock, settings, logger } = this.#parts;
    if (this.#vainWaits < MAX_VAIN_WAITS) {
      const patienceMs = Math.max(PATIENCE_MS, 2 * this.#durationMs);
      if (clock.since(began) < Math.min(patienceMs, settings.SNAPSHOT_READ_TIMEOUT_MS / 3)) return true;
      this.#vainWaits += 1;
      if (this.#vainWaits < MAX_VAIN_WAITS) return false;
      logger.warn(
        { event: 'sharing.refused', what: 'redis', reason: 'lock' },
        'the lock in Redis is ignored: another instance holds it, and stores no copy',
      );
    }
    return false;
  }

  /** @param look null while Redis cannot be used */
  async #readFromSource(group: Group, look: Look | null, request: RefreshRequest): Promise<ReadSnapshot> {
    if (!look) return this.source.read(request);
    const { store } = this.#parts;
    if (look.locked) {
      this.#vainWaits = 0;
      store.keepLock(group);
    }
    const afterwards = (work: () => Promise<void>) => {
      this.#inBackground(() => work().finally(() => (look.locked ? store.releaseLock(group) : undefined)));
    };
    try {
      const read = await this.source.read(request);
      const asOfMs = this.#toRedisMs(read.snapshot.askedAt, look);
      const snapshot = { ...read.snapshot, asOf: new Date(asOfMs).toISOString() };
      afterwards(async () => {
        if (await store.store(group, snapshot, asOfMs)) this.#lastStoredAt = this.#now();
      });
      return { ...read, snapshot };
    } catch (error) {
      const withdrawn = error instanceof GatewayError && error.code === 'access-not-granted';
      afterwards(async () => (withdrawn ? store.drop(group) : undefined));
      throw error;
    }
  }

  /** An instant by Redis' clock, ms since 1970: that of the look, continued by the monotonic clock of this machine. */
  #toRedisMs(instant: Instant, { at, redisMs }: Look): number {
    return redisMs + instant.monotonic - at.monotonic;
  }

  /** Runs work in the background. Ignores its errors: they have been logged, and the lock expires by itself. */
  #inBackground(work: () => Promise<void>): void {
    const finished = this.#afterwards.then(work).catch(() => undefined);
    this.#afterwards = finished.then(() => {
      this.#isHeldUp = false;
    });
  }

  #now(): string {
    return new Date(this.#parts.clock.now().wall).toISOString();
  }
}

const toWait = (began: Instant, { facts }: Look): Wait => ({ began, firstAsOfMs: facts?.asOfMs ?? -Infinity });

/** A copy that cannot be restored is none: the source is read. */
function toNullIfRefused(error: unknown): null {
  if (error instanceof Refused) return null;
  throw error;
}
