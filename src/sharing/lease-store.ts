import type { Clock } from '../time/clock.js';
import { orAborted, within } from '../time/deadline.js';
import type { TimeBudget } from './time-budget.js';
import { RedisFailure, type RedisLink } from './redis-link.js';
import * as scripts from './scripts.js';
import { MAX_HEADER_BYTES } from './sealing.js';
import { ServerTime } from './server-time.js';

/** Without an announcement, one that waits for another instance looks so often: it notices soon that Redis is away, too. */
const LOOK_EVERY_MS = 100;
/** A holder that dies is replaced after this. It renews its lease three times as often. */
const LEASE_MS = 3000;
/** For what nobody waits for. */
export const BACKGROUND_MS = 1000;
/** A token is 16 KB at most; the start of a snapshot is less. */
const MAX_RECORD_BYTES = 32_768 + MAX_HEADER_BYTES;

/** What lies in Redis for one kind of work, as one look finds it. */
export interface Seen {
  readonly time: ServerTime;
  /** Fence of who does the work now; null for nobody. */
  readonly holder: number | null;
  /** Of this instance when it has just taken the lease, else 0. */
  readonly fence: number;
  /** The result that is there, and the fence it was written with; null for none, or for what is none. */
  readonly result: { readonly fence: number; readonly record: Buffer } | null;
  /** Something lies there that is no result. */
  readonly garbage: boolean;
  /** Sealed; empty for none. */
  readonly wait: Buffer;
}

interface Parts {
  readonly link: RedisLink;
  /** What keys of this work begin with. */
  readonly key: string;
  /** What announcements of it begin with. */
  readonly topic: string;
  /** Of this instance; hex. */
  readonly owner: string;
  readonly clock: Clock;
}

/** Lease, record and wait of one kind of work of one fleet: the scripts of scripts.ts, and the announcements that go with them. */
export class LeaseStore {
  readonly #parts: Parts;
  readonly #keys: Readonly<Record<'lease' | 'fence' | 'record' | 'wait' | 'probe', string>>;

  constructor(parts: Parts) {
    this.#parts = parts;
    const key = (what: string) => `${parts.key}:${what}`;
    this.#keys = {
      lease: key('lease'),
      fence: key('fence'),
      record: key('record'),
      wait: key('wait'),
      probe: key('probe'),
    };
  }

  get leaseKey(): string {
    return this.#keys.lease;
  }

  get recordKey(): string {
    return this.#keys.record;
  }

  /** Looks, and takes the lease when asked to and nobody has it. @throws RedisFailure, which the link is told of */
  async enter(take: boolean, budget: TimeBudget | number): Promise<Seen> {
    const { link, owner, clock } = this.#parts;
    const at = clock.now();
    const { lease, fence, record, wait, probe } = this.#keys;
    const args = [owner, LEASE_MS, take ? 1 : 0, MAX_RECORD_BYTES];
    try {
      const reply = await link.script(scripts.ENTER, [lease, fence, record, wait, probe], args, budget);
      const [micros, holder, taken, found, waiting] = Array.isArray(reply) ? (reply as unknown[]) : [];
      const ms = Number(micros) / 1000;
      const sound = Buffer.isBuffer(holder) && Buffer.isBuffer(found) && Buffer.isBuffer(waiting);
      if (!sound || !Number.isFinite(ms) || typeof taken !== 'number') throw new RedisFailure('nonsense');
      const result = toResult(found);
      return {
        time: new ServerTime(ms, at, clock),
        holder: holder.length === 0 ? null : Number(holder.toString().split(':')[1]),
        fence: taken,
        result,
        garbage: result === null && found.length > 0,
        wait: waiting,
      };
    } catch (error) {
      if (error instanceof RedisFailure) link.failed('commands', error);
      throw error;
    }
  }

  /** Keeps the lease until the function it gives is called. What goes wrong shows when the result is stored. */
  hold(fence: number): () => void {
    const { link } = this.#parts;
    const renew = () => link.script(scripts.RENEW, [this.#keys.lease], [this.#lease(fence), LEASE_MS], BACKGROUND_MS);
    const renewal = setInterval(() => void renew().catch(() => undefined), LEASE_MS / 3).unref();
    return () => clearInterval(renewal);
  }

  async release(fence: number): Promise<void> {
    const args = [this.#lease(fence), ...this.#announcement('free')];
    await this.#parts.link.script(scripts.RELEASE, [this.#keys.lease], args, BACKGROUND_MS).catch(() => undefined);
  }

  /**
   * Puts a result in the place of the one before, and frees the lease. Gives what can be tidied up: the one before, or this
   * one when it came too late.
   * @throws RedisFailure
   */
  async commit(
    fence: number,
    record: Buffer,
    pieces: number,
    lastsMs: number,
  ): Promise<{ fence: number; pieces: number }> {
    const marked = Buffer.concat([Buffer.from(`${fence} ${pieces} `), record]);
    const args = [this.#lease(fence), fence, marked, Math.ceil(lastsMs), ...this.#announcement('done')];
    const reply = await this.#all(scripts.COMMIT, args);
    const [kept, before = 0, piecesBefore = 0] = Array.isArray(reply) ? (reply as number[]) : [];
    return kept === 1 ? { fence: before, pieces: piecesBefore } : { fence, pieces };
  }

  /** Has the others wait, frees the lease, and takes the record away where that is said. @throws RedisFailure */
  async fail(fence: number, wait: Buffer, lastsMs: number, drop: boolean): Promise<void> {
    const announcement = this.#announcement(drop ? 'dropped' : 'failed');
    await this.#all(scripts.FAIL, [this.#lease(fence), wait, Math.ceil(lastsMs), drop ? 1 : 0, ...announcement]);
  }

  /** @throws RedisFailure */
  async drop(): Promise<void> {
    await this.#parts.link.script(scripts.DROP, [this.#keys.record], this.#announcement('dropped'), BACKGROUND_MS);
  }

  /** Until something is announced, or it is time to look. @throws RedisFailure when Redis goes away meanwhile */
  async announced(signal?: AbortSignal): Promise<void> {
    const { link, topic } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    const hear = (text: string) => {
      if (text.startsWith(`${topic} `)) resolve();
    };
    link.on('announcement', hear).on('down', resolve);
    try {
      await within(signal ? orAborted(promise, signal) : promise, LOOK_EVERY_MS);
    } finally {
      link.off('announcement', hear).off('down', resolve);
    }
    if (!link.up) throw link.trouble ?? new RedisFailure('not-connected');
  }

  #lease(fence: number): string {
    return `${this.#parts.owner}:${fence}`;
  }

  #announcement(what: string): [channel: string, text: string] {
    const { link, topic } = this.#parts;
    return [link.channel, `${topic} ${what}`];
  }

  #all(script: string, args: readonly (string | Buffer | number)[]): Promise<unknown> {
    const { lease, record, wait, fence } = this.#keys;
    return this.#parts.link.script(script, [lease, record, wait, fence], args, BACKGROUND_MS);
  }
}

/** As `commit` writes it: fence and pieces in the clear, then what is sealed. */
function toResult(bytes: Buffer): Seen['result'] {
  const match = /^(\d{1,15}) \d{1,6} /.exec(bytes.subarray(0, 40).toString('latin1'));
  return match && { fence: Number(match[1]), record: bytes.subarray(match[0].length) };
}
