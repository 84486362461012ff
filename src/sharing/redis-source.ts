import { setTimeout as delay } from 'node:timers/promises';
import type { RefreshRequest, Snapshot, SnapshotSource } from '../snapshot/snapshot-source.js';
import type { Instant } from '../time/clock.js';
import { orAborted, within } from '../time/deadline.js';
import { RedisConnection, RedisFailure, type Command, type RedisSettings } from './redis-connection.js';
import { RedisStore, type LockedState } from './redis-store.js';
import type { Group } from './sealing.js';
import { StoredSource, type StoredSourceParts } from './stored-source.js';

const POLL_EVERY_MS = 50;
/** Maximum wait for another instance's refresh, ms, or twice the last refresh if that took longer. */
const PATIENCE_MS = 5000;
/** Consecutive waits in vain after which a lock that is never released is ignored. */
const MAX_VAIN_WAITS = 2;
const CLOSE_WITHIN_MS = 1000;

/** One refresh for all instances, through the copy and the lock in Redis (docs/fleet.md#how-it-works). */
export class RedisSource extends StoredSource {
  /** Duration of the last refresh by any instance, ms. */
  #durationMs = 0;
  #vainWaits = 0;

  static async connect(
    source: SnapshotSource,
    settings: RedisSettings,
    parts: StoredSourceParts,
    waitMs?: number,
  ): Promise<RedisSource> {
    const { clock, logger, group } = parts;
    const { SNAPSHOT_MAX_AGE_MS: maxAgeMs } = parts.settings;
    // each connect deletes a lock left by a lost connection of this instance
    const atConnect = async (): Promise<Command[]> => [store.expireLock(await group(), 0)];
    const connection = new RedisConnection(settings, logger, clock, waitMs, atConnect);
    const store: RedisStore = new RedisStore(connection, settings.REDIS_KEY_PREFIX, maxAgeMs, clock);
    await connection.connect();
    return new RedisSource(source, connection, store, parts);
  }

  constructor(
    source: SnapshotSource,
    private readonly connection: RedisConnection,
    private readonly redis: RedisStore,
    parts: StoredSourceParts,
  ) {
    super(source, redis, parts);
  }

  override get isShared(): boolean {
    return true;
  }

  /** Takes an acceptable copy, waits until another instance has stored one, or reads from the source. */
  override async read(request: RefreshRequest): Promise<Snapshot> {
    const group = await this.parts.group();
    const found = await this.#find(group, request).catch(toNullIfRedisFails);
    const read = found && 'list' in found ? found : await this.#readFromSource(group, found, request);
    this.#durationMs = read.durationMs;
    return read;
  }

  override async close(): Promise<void> {
    await within(super.close(), CLOSE_WITHIN_MS);
    this.connection.close();
  }

  /**
   * An acceptable copy, else the last state: with the lock, or without it after the maximum wait.
   * @throws RedisFailure; the reason of the signal
   */
  async #find(group: Group, { accepts, signal }: RefreshRequest): Promise<Snapshot | LockedState> {
    const { clock } = this.parts;
    const began = clock.now();
    let state = await this.redis.lockAndInspect(group, this.connection.waitMs);
    // the wait for the other instance does not count as waiting for Redis
    const { leftMs } = state;
    for (;;) {
      const copy = await this.takeFrom(group, state, began, accepts);
      if (copy || state.locked) this.#vainWaits = 0;
      if (copy && state.locked) this.inBackground(() => this.redis.releaseLock(group));
      if (copy) return copy;
      if (state.locked || !this.#mayWait(began)) return state;
      await orAborted(delay(POLL_EVERY_MS), signal);
      state = await this.redis.lockAndInspect(group, leftMs);
    }
  }

  /** False once this refresh has waited long enough, or too many waits were in vain. */
  #mayWait(began: Instant): boolean {
    const { clock, settings, logger } = this.parts;
    if (this.#vainWaits >= MAX_VAIN_WAITS) return false;
    const patienceMs = Math.max(PATIENCE_MS, 2 * this.#durationMs);
    if (clock.since(began) < Math.min(patienceMs, settings.SNAPSHOT_READ_TIMEOUT_MS / 3)) return true;
    this.#vainWaits += 1;
    if (this.#vainWaits === MAX_VAIN_WAITS) {
      logger.warn(
        { event: 'sharing.refused', what: 'redis', reason: 'lock' },
        'the lock in Redis is ignored: it is not released, and no copy is stored',
      );
    }
    return false;
  }

  /** @param state null while Redis is unavailable */
  async #readFromSource(group: Group, state: LockedState | null, request: RefreshRequest): Promise<Snapshot> {
    if (!state) return this.readAndStore(request, null);
    if (state.locked) this.redis.keepLock(group);
    try {
      return await this.readAndStore(request, (snapshot) => ({
        ...snapshot,
        asOf: toRedisTime(snapshot.askedAt, state),
      }));
    } finally {
      if (state.locked) this.inBackground(() => this.redis.releaseLock(group));
    }
  }
}

/** An instant on the clock of Redis, ISO 8601: that of the last check, continued with this machine's monotonic clock. */
const toRedisTime = (instant: Instant, { at, nowMs }: LockedState): string =>
  new Date(nowMs + instant.monotonic - at.monotonic).toISOString();

function toNullIfRedisFails(error: unknown): null {
  if (error instanceof RedisFailure) return null;
  throw error;
}
