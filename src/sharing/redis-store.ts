import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import type { Clock, Instant } from '../time/clock.js';
import {
  CLOCK_TRUSTED_WITHIN_MS,
  EXPIRE_IF_EQUAL,
  toTimeMs,
  type Command,
  type RedisConnection,
} from './redis-connection.js';
import { TimeBudget } from './time-budget.js';
import {
  HEADER_BYTES,
  open,
  type Opened,
  OVERHEAD_BYTES,
  readHeader,
  Refused,
  seal,
  type SealedFacts,
  type Group,
} from './sealing.js';

/** Lifetime of the lock, ms: the delay that a crashed holder causes. The holder renews it three times within it. */
const LOCK_MS = 3000;
/** Time beyond the maximum age that a copy stays in Redis, for callers who already wait, ms. */
const KEEP_LONGER_MS = 10_000;
/** Time limit for background work. */
const BACKGROUND_MS = 1000;
const MB = 1_048_576;
const MS_PER_MB = 20;
/** Larger copies are not shared. */
const MAX_SHARED_BYTES = 64 * MB;

/** The state of Redis at one moment. Ages use its clock, so an instance whose own is minutes off shows the same ones. */
export interface Look {
  /** The moment by the clocks of this machine, before Redis was asked. */
  readonly at: Instant;
  /** The moment by Redis' clock, ms since 1970. */
  readonly redisMs: number;
  /** True if the lock was free: this instance has it now, and must release it. */
  readonly locked: boolean;
  /** Size of the sealed copy. */
  readonly bytes: number;
  /** Header of the copy, not authenticated; null for none, or one that this group cannot open. */
  readonly facts: SealedFacts | null;
}

/** The one value and the one lock of a group in Redis. Every method may throw RedisFailure. */
export class RedisStore {
  /** Value of this instance's locks. */
  readonly #owner = randomUUID();
  #renewal: NodeJS.Timeout | undefined;
  /** The reason that was logged last. Cleared when a copy can be opened. */
  #reported: Refused['reason'] | null = null;

  constructor(
    private readonly connection: RedisConnection,
    private readonly settings: Pick<Settings, 'REDIS_KEY_PREFIX' | 'SNAPSHOT_MAX_AGE_MS'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Takes the lock if it is free, then looks for a copy: in this order the copy of the lock's last holder is found, since
   * that stored it before it released the lock.
   */
  lockAndLook(group: Group, budget: TimeBudget): Promise<Look> {
    return this.look(group, budget, [['SET', this.#lock(group), this.#owner, 'NX', 'PX', String(LOCK_MS)]]);
  }

  /**
   * Loads and opens the copy; null when it cannot be opened, which is logged once. Its facts are now authenticated, and may
   * be others than those of the look.
   */
  async load(group: Group, { bytes }: Look): Promise<Opened | null> {
    try {
      if (bytes > MAX_SHARED_BYTES + OVERHEAD_BYTES) throw new Refused('too-large');
      const command = ['GETRANGE', this.#value(group), '0', String(MAX_SHARED_BYTES + OVERHEAD_BYTES - 1)];
      const [sealed] = await this.connection.send(
        [command],
        new TimeBudget(this.connection.waitMs + toTransferMs(bytes)),
      );
      if (!Buffer.isBuffer(sealed)) throw new Refused('damaged');
      const opened = await open(sealed, group);
      this.#reported = null;
      return opened;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#report(error.reason);
      return null;
    }
  }

  /** Stores a copy, unless it is too large or a newer one is there. Returns whether it did. */
  async store(group: Group, { list, durationMs, complete }: Snapshot, asOfMs: number): Promise<boolean> {
    const json = await list.toJson(MAX_SHARED_BYTES);
    if (!json) {
      this.#report('too-large');
      return false;
    }
    const sealed = await seal({ json, facts: { asOfMs, durationMs, complete } }, group);
    const { facts, redisMs } = await this.look(group, new TimeBudget(BACKGROUND_MS));
    // one from the future is none
    if (facts && facts.asOfMs > asOfMs && facts.asOfMs <= redisMs) return false;
    const keepMs = this.settings.SNAPSHOT_MAX_AGE_MS + KEEP_LONGER_MS;
    const command = ['SET', this.#value(group), sealed, 'PX', String(keepMs)];
    await this.connection.send([command], new TimeBudget(BACKGROUND_MS + toTransferMs(sealed.length)));
    return true;
  }

  /** Deletes the stored copy. */
  async drop(group: Group): Promise<void> {
    await this.connection.send([['DEL', this.#value(group)]], new TimeBudget(BACKGROUND_MS));
  }

  /** Renews the lock of this instance until `releaseLock`. */
  keepLock(group: Group): void {
    // that of a refresh whose lock expired before it could release it
    clearInterval(this.#renewal);
    this.#renewal = setInterval(
      () => void this.#expireLock(group, LOCK_MS).catch(() => undefined),
      LOCK_MS / 3,
    ).unref();
  }

  /** Releases the lock, if it is still that of this instance. */
  async releaseLock(group: Group): Promise<void> {
    clearInterval(this.#renewal);
    await this.#expireLock(group, 0);
  }

  async #expireLock(group: Group, ms: number): Promise<void> {
    const command = ['EVAL', EXPIRE_IF_EQUAL, '1', this.#lock(group), this.#owner, String(ms)];
    await this.connection.send([command], new TimeBudget(BACKGROUND_MS));
  }

  /** Looks for a copy. @param lock the command before, if any, that takes the lock */
  async look(group: Group, budget: TimeBudget, lock: readonly Command[] = []): Promise<Look> {
    const at = this.clock.now();
    const value = this.#value(group);
    const look = [['TIME'], ['STRLEN', value], ['GETRANGE', value, '0', String(HEADER_BYTES - 1)]];
    const replies = await this.connection.send([...lock, ...look], budget);
    const [time, bytes, header] = replies.slice(lock.length);
    const redisMs = toTimeMs(time);
    if (redisMs === null) throw this.connection.failed('nonsense');
    if (Math.abs(redisMs - at.wall) > CLOCK_TRUSTED_WITHIN_MS) throw this.connection.failed('clock');
    return {
      at,
      redisMs,
      locked: lock.length > 0 && String(replies[0]) === 'OK',
      bytes: Number(bytes),
      facts: bytes === 0 ? null : this.#readHeader(header, group),
    };
  }

  #readHeader(header: unknown, group: Group): SealedFacts | null {
    try {
      // null for a key of another type
      if (!Buffer.isBuffer(header)) throw new Refused('damaged');
      return readHeader(header, group);
    } catch (error) {
      this.#report((error as Refused).reason);
      return null;
    }
  }

  #report(reason: Refused['reason']): void {
    if (this.#reported === reason) return;
    this.#reported = reason;
    const message =
      reason === 'too-large'
        ? 'the snapshot is not shared: it is larger than 64 MB'
        : `the copy in Redis is ignored (${reason})`;
    this.logger.warn({ event: 'sharing.refused', what: 'redis', reason }, message);
  }

  #value({ keyId }: Group): string {
    return `${this.settings.REDIS_KEY_PREFIX}${keyId}:snapshot`;
  }

  #lock({ keyId }: Group): string {
    return `${this.settings.REDIS_KEY_PREFIX}${keyId}:lock`;
  }
}

const toTransferMs = (bytes: number): number => (bytes / MB) * MS_PER_MB;
