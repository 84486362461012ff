import { randomUUID } from 'node:crypto';
import type { Clock, Instant } from '../time/clock.js';
import { EXPIRE_IF_EQUAL, readTime, type Command, type RedisConnection } from './redis-connection.js';
import { HEADER_BYTES, readHeader, type Group } from './sealing.js';
import type { CopyState, Store } from './stored-source.js';

/** Lifetime of the lock, ms: the delay after its holder has crashed. The holder renews it three times as often. */
const LOCK_MS = 3000;
/** A copy outlives its maximum age by this time, ms, for callers who already wait. */
const KEEP_LONGER_MS = 10_000;
const BACKGROUND_MS = 1000;
const MB = 1_048_576;
const MS_PER_MB = 20;

export interface LockedState extends CopyState {
  /** True if this instance has the lock, and must release it. */
  readonly locked: boolean;
}

/** The copy and the lock of a group in Redis, dated by the clock of Redis. Every asynchronous method may throw RedisFailure. */
export class RedisStore implements Store {
  readonly kind = 'redis';
  readonly writeEveryMs = 0;
  #renewal: NodeJS.Timeout | undefined;

  /** @param owner value of this instance's locks */
  constructor(
    private readonly connection: RedisConnection,
    private readonly keyPrefix: string,
    private readonly maxAgeMs: number,
    private readonly clock: Clock,
    private readonly owner: string = randomUUID(),
  ) {}

  get failing(): string | null {
    return this.connection.trouble;
  }

  async inspect(group: Group, withinMs = this.connection.waitMs): Promise<CopyState> {
    const at = this.clock.now();
    return this.connection.send(this.#inspectCommands(group), withinMs, (replies) =>
      this.#toState(at, withinMs, replies),
    );
  }

  /**
   * Takes the lock if it is free, then looks for a copy. This order finds the copy that the last holder stored before it
   * released the lock. A lock of a lost connection of this instance counts as its own.
   */
  async lockAndInspect(group: Group, withinMs: number): Promise<LockedState> {
    const at = this.clock.now();
    const key = this.#lock(group);
    const lock: Command[] = [
      ['SET', key, this.owner, 'NX', 'PX', String(LOCK_MS)],
      ['GET', key],
    ];
    return this.connection.send([...lock, ...this.#inspectCommands(group)], withinMs, ([, holder, ...replies]) => {
      return { ...this.#toState(at, withinMs, replies), locked: String(holder) === this.owner };
    });
  }

  async load(group: Group, { bytes, leftMs }: CopyState): Promise<Buffer> {
    const withinMs = leftMs + toTransferMs(bytes);
    const command = ['GETRANGE', this.#value(group), '0', String(bytes - 1)];
    return this.connection.send([command], withinMs, ([sealed]) => toBytes(sealed));
  }

  async write(group: Group, sealed: Buffer, asOfMs: number): Promise<void> {
    const state = await this.inspect(group, BACKGROUND_MS);
    const storedMs = toAsOfMs(state, group);
    // a copy from the future does not count
    if (storedMs !== null && storedMs > asOfMs && storedMs <= state.nowMs) return;
    const command = ['SET', this.#value(group), sealed, 'PX', String(this.maxAgeMs + KEEP_LONGER_MS)];
    await this.connection.send([command], BACKGROUND_MS + toTransferMs(sealed.length));
  }

  async drop(group: Group): Promise<void> {
    await this.connection.send([['DEL', this.#value(group)]], BACKGROUND_MS);
  }

  keepLock(group: Group): void {
    clearInterval(this.#renewal);
    const renew = () =>
      void this.connection.send([this.expireLock(group, LOCK_MS)], BACKGROUND_MS).catch(() => undefined);
    this.#renewal = setInterval(renew, LOCK_MS / 3).unref();
  }

  async releaseLock(group: Group): Promise<void> {
    clearInterval(this.#renewal);
    await this.connection.send([this.expireLock(group, 0)], BACKGROUND_MS);
  }

  /** Sets the lifetime of the lock if it still belongs to this instance. 0 releases it. */
  expireLock(group: Group, ms: number): Command {
    return ['EVAL', EXPIRE_IF_EQUAL, '1', this.#lock(group), this.owner, String(ms)];
  }

  #inspectCommands(group: Group): Command[] {
    const value = this.#value(group);
    return [['TIME'], ['STRLEN', value], ['GETRANGE', value, '0', String(HEADER_BYTES - 1)]];
  }

  /** A key of another type reads as null. */
  #toState(at: Instant, withinMs: number, [time, bytes, header]: readonly unknown[]): CopyState {
    return {
      at,
      nowMs: readTime(time, at),
      bytes: bytes === null ? 1 : Number(bytes),
      header: toBytes(header),
      leftMs: Math.max(1, withinMs - this.clock.since(at)),
    };
  }

  #value({ keyId }: Group): string {
    return `${this.keyPrefix}${keyId}:snapshot`;
  }

  #lock({ keyId }: Group): string {
    return `${this.keyPrefix}${keyId}:lock`;
  }
}

const toBytes = (reply: unknown): Buffer => (Buffer.isBuffer(reply) ? reply : Buffer.alloc(0));

const toTransferMs = (bytes: number): number => (bytes / MB) * MS_PER_MB;

/** Date of the copy, not authenticated; null if there is no copy of this group. */
function toAsOfMs({ header }: CopyState, group: Group): number | null {
  try {
    return readHeader(header, group).asOfMs;
  } catch {
    return null;
  }
}
