import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { orAborted, TIMED_OUT, within } from '../deadline.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { FleetKeys } from './fleet-keys.js';
import { Patience } from './patience.js';
import { RedisFailure, type RedisLink } from './redis-link.js';
import * as scripts from './scripts.js';
import { MAX_HEADER_BYTES, Refused } from './sealing.js';
import { ServerTime } from './server-time.js';
import { concernsAll, openWait, sealWait, toSharedWait, toWaiting, type SharedWait } from './shared-wait.js';

/** What a caller waits for Redis at most, in all (docs/fleet.md#when-redis-is-away). */
const BUDGET_MS = 200;
/** Without news, one that waits for another instance looks so often: it notices soon that Redis is away, too. */
const LOOK_EVERY_MS = 100;
/** A holder that dies is replaced after this. It renews its lease three times as often. */
const LEASE_MS = 3000;
/** For what nobody waits for. */
const PATIENT_MS = 1000;
/** A token is 16 KB at most; the start of a snapshot is less. */
export const MAX_RECORD_BYTES = 32_768 + MAX_HEADER_BYTES;

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
}

/** How one kind of work is done, stored and found. */
export interface Job<T> {
  /** What is stored, if it will do. @throws Refused, RedisFailure */
  find(found: Found): Promise<T | null>;
  /** Asks the bank; `time` is null when Redis is away. */
  work(time: ServerTime | null): Promise<T>;
  /** Stores a result but for its record, which it gives, with its number of pieces; null when it is gone. @throws RedisFailure */
  store(
    value: T,
    fence: number,
    time: ServerTime,
  ): Promise<{ readonly record: Buffer; readonly pieces: number } | null>;
  /** How long the record lasts, ms. */
  lastsMs(value: T): number;
  /** Tidies up after the one before. */
  replaced?(fence: number, pieces: number): void;
}

/** Who asked the bank: this instance, or another. */
export interface Done<T> {
  readonly value: T;
  readonly source: 'bank' | 'shared';
}

interface Seen {
  readonly time: ServerTime;
  /** Who does the work now, as `owner:fence`; empty for nobody. */
  readonly holder: string;
  /** Of this instance when it has just taken the lease, else 0. */
  readonly fence: number;
  readonly record: Buffer;
  readonly wait: Buffer;
}

interface Parts {
  readonly link: RedisLink;
  readonly keys: FleetKeys;
  /** What keys begin with. */
  readonly keyPrefix: string;
  /** Of this instance; hex. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Work at the bank that is done once for the fleet, whoever needs it: under a lease, with a fence that a late writer is
 * refused by, with the waiting after failures shared (docs/fleet.md#how-it-works). Where Redis is of no use, it is done here.
 */
export class Errand {
  readonly #parts: Parts;
  readonly #name: string;
  readonly #keys: Readonly<Record<'lease' | 'fence' | 'record' | 'wait' | 'probe', string>>;
  /** While this instance does the work for all. */
  #lease: string | null = null;
  /** What this instance has done and is storing. */
  #storing: Promise<void> | null = null;
  /** By Redis' clock; waits that began before are over. */
  #resetAt = -Infinity;
  #resetPending = false;
  #refused = false;

  constructor(parts: Parts, name: string) {
    this.#parts = parts;
    this.#name = name;
    const key = (what: string) => `${parts.keyPrefix}${parts.keys.name}:${name}:${what}`;
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
    this.#resetPending = true;
  }

  /** The failure that the fleet waits after now, or null. @throws RedisFailure */
  async waiting(): Promise<GatewayError | null> {
    return this.#waiting(await this.#enter(false, BUDGET_MS));
  }

  /** Takes away what is stored. */
  async drop(): Promise<void> {
    const { link, keys } = this.#parts;
    const args = [link.channel, `${keys.name} ${this.#name} dropped`];
    await link.script(scripts.DROP, [this.#keys.record], args, PATIENT_MS).catch(() => undefined);
  }

  /** Lets what is being stored end, and leaves what is being done to the others. */
  async leave(): Promise<void> {
    await this.#storing;
    if (this.#lease !== null) await this.#release(this.#lease);
  }

  async #together<T>(job: Job<T>, signal?: AbortSignal): Promise<Done<T>> {
    const { clock } = this.#parts;
    const began = clock.now();
    let patience = new Patience(BUDGET_MS);
    let inFlight = Infinity;
    // what this instance has just done is found once it is stored
    if (this.#storing && (await patience.within(this.#storing)) === TIMED_OUT) return this.#alone(job);
    for (;;) {
      const seen = await this.#enter(false, patience);
      const known = (each: Seen) => this.#judge(job, each, inFlight, clock.since(began));
      const found = await known(seen);
      if (found !== null) return { value: found, source: 'shared' };
      if (seen.holder === '') {
        const taken = await this.#enter(true, patience);
        if (taken.fence > 0) return await this.#underLease(job, taken, known);
        inFlight = Math.min(inFlight, toFence(taken.holder));
      } else inFlight = Math.min(inFlight, toFence(seen.holder));
      await this.#news(signal);
      patience = new Patience(BUDGET_MS);
    }
  }

  async #underLease<T>(job: Job<T>, taken: Seen, known: (seen: Seen) => Promise<T | null>): Promise<Done<T>> {
    const { owner } = this.#parts;
    const lease = `${owner}:${taken.fence}`;
    let found: T | null;
    try {
      // between the two looks another may have done it
      found = await known(taken);
    } catch (error) {
      void this.#release(lease);
      throw error;
    }
    if (found !== null) {
      void this.#release(lease);
      return { value: found, source: 'shared' };
    }
    const renewal = setInterval(() => {
      // what goes wrong shows at the end
      void this.#renew(lease).catch(() => undefined);
    }, LEASE_MS / 3).unref();
    this.#lease = lease;
    const end = () => {
      clearInterval(renewal);
      this.#lease = null;
    };
    try {
      const value = await job.work(taken.time);
      this.#storing = this.#store(job, value, taken).finally(() => {
        end();
        this.#storing = null;
      });
      return { value, source: 'bank' };
    } catch (thrown) {
      end();
      throw this.#giveUp(thrown, lease, taken);
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
    const taken = await this.#enter(true, PATIENT_MS).catch(() => null);
    if (taken && taken.fence > 0) await this.#store(job, value, taken);
  }

  async #store<T>(job: Job<T>, value: T, { fence, time }: Seen): Promise<void> {
    const { link, owner } = this.#parts;
    const lease = `${owner}:${fence}`;
    try {
      const stored = await job.store(value, fence, time);
      if (!stored) return await this.#release(lease);
      const { record, pieces } = stored;
      const marked = Buffer.concat([Buffer.from(`${fence} ${pieces} `), record]);
      const reply = await this.#patiently(scripts.COMMIT, [lease, fence, marked, job.lastsMs(value), 'done']);
      link.well('store');
      const [kept, before, piecesBefore] = Array.isArray(reply) ? (reply as number[]) : [];
      // a newer one is there already: what came too late is tidied up instead
      if (kept === 1) job.replaced?.(before ?? 0, piecesBefore ?? 0);
      else job.replaced?.(fence, pieces);
    } catch (error) {
      link.failed(error instanceof RedisFailure && error.refused ? 'store' : 'commands', toRedisFailure(error));
      await this.#release(lease);
    }
  }

  /** Tells the others what was failed with, where it concerns them. Gives what is to be thrown. */
  #giveUp(thrown: unknown, lease: string, { time, wait }: Seen): unknown {
    const { keys } = this.#parts;
    if (!concernsAll(thrown)) {
      void this.#release(lease);
      return thrown;
    }
    const shared = toSharedWait(thrown, this.#openWait(wait), time.now());
    const { sealed, lastsMs } = sealWait(shared, keys);
    const drop = thrown.code === 'access-not-granted';
    const news = drop ? 'dropped' : 'failed';
    void this.#patiently(scripts.FAIL, [lease, sealed, lastsMs, drop ? 1 : 0, news]).catch(() => undefined);
    return thrown.waiting(shared.waitMs);
  }

  /** What is stored, if it will do. @throws GatewayError when a failure is being waited after */
  async #judge<T>(job: Job<T>, seen: Seen, inFlight: number, waitedMs: number): Promise<T | null> {
    const { time } = seen;
    if (this.#resetPending) {
      this.#resetPending = false;
      this.#resetAt = time.now();
    }
    const [, fence = '', record] = splitRecord(seen.record);
    if (record !== undefined) {
      try {
        const wasInFlight = Number(fence) >= inFlight;
        const value = await job.find({ fence: Number(fence), record, time, wasInFlight, waitedMs });
        this.#refused = false;
        if (value !== null) return value;
      } catch (error) {
        this.#refuse(error);
      }
    } else if (seen.record.length > 0) this.#refuse(new Refused('damaged'));
    const waiting = this.#waiting(seen);
    if (waiting) throw waiting;
    return null;
  }

  #waiting({ wait, time }: Seen): GatewayError | null {
    const shared = this.#openWait(wait);
    return shared && shared.at > this.#resetAt ? toWaiting(shared, time.now()) : null;
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
    const { reason } = error;
    this.#parts.logger.warn(
      { event: 'sharing.refused', what: this.#name.replace(/-.*/, ''), reason },
      `what lies in Redis is ignored: it is ${reason}`,
    );
  }

  async #enter(take: boolean, patience: Patience | number): Promise<Seen> {
    const { link, owner, clock } = this.#parts;
    const at = clock.now();
    const { lease, fence, record, wait, probe } = this.#keys;
    const args = [owner, LEASE_MS, take ? 1 : 0, MAX_RECORD_BYTES];
    const reply = await this.#observed(link.script(scripts.ENTER, [lease, fence, record, wait, probe], args, patience));
    const [micros, holder, taken, ...rest] = Array.isArray(reply) ? (reply as unknown[]) : [];
    const [found, waiting] = rest;
    const ms = Number(micros) / 1000;
    const sound = Buffer.isBuffer(holder) && Buffer.isBuffer(found) && Buffer.isBuffer(waiting);
    if (!sound || !Number.isFinite(ms) || typeof taken !== 'number') {
      throw await this.#observed(Promise.reject(new RedisFailure('nonsense')));
    }
    const time = new ServerTime(ms, at, clock);
    return { time, holder: holder.toString(), fence: taken, record: found, wait: waiting };
  }

  async #renew(lease: string): Promise<void> {
    await this.#parts.link.script(scripts.RENEW, [this.#keys.lease], [lease, LEASE_MS], PATIENT_MS);
  }

  async #release(lease: string): Promise<void> {
    const { link, keys } = this.#parts;
    const args = [lease, link.channel, `${keys.name} ${this.#name} free`];
    await link.script(scripts.RELEASE, [this.#keys.lease], args, PATIENT_MS).catch(() => undefined);
  }

  /** COMMIT or FAIL; the last of `args` is what the others are told. */
  #patiently(script: string, args: readonly (string | Buffer | number)[]): Promise<unknown> {
    const { link, keys } = this.#parts;
    const { lease, record, wait } = this.#keys;
    const told = [...args.slice(0, -1), link.channel, `${keys.name} ${this.#name} ${String(args.at(-1))}`];
    return link.script(script, [lease, record, wait], told, PATIENT_MS);
  }

  /** A failure is told of the link. */
  async #observed<R>(reply: Promise<R>): Promise<R> {
    try {
      return await reply;
    } catch (error) {
      this.#parts.link.failed('commands', toRedisFailure(error));
      throw error;
    }
  }

  /** Until something is announced, or it is time to look. @throws RedisFailure when Redis goes away meanwhile */
  async #news(signal?: AbortSignal): Promise<void> {
    const { link, keys } = this.#parts;
    const done = new AbortController();
    const mine = `${keys.name} ${this.#name} `;
    const told = (async () => {
      for (;;) {
        const [text] = (await once(link, 'news', { signal: done.signal })) as [string];
        if (text.startsWith(mine)) return;
      }
    })();
    const down = once(link, 'down', { signal: done.signal });
    const either = Promise.race([told, down]);
    either.catch(() => undefined);
    told.catch(() => undefined);
    down.catch(() => undefined);
    try {
      await within(signal ? orAborted(either, signal) : either, LOOK_EVERY_MS);
    } finally {
      done.abort();
    }
    if (!link.up) throw link.trouble ?? new RedisFailure('not-connected');
  }
}

const toFence = (holder: string): number => Number(holder.split(':')[1] ?? Infinity);

/** As COMMIT writes it: fence and pieces in the clear, then what is sealed. */
function splitRecord(bytes: Buffer): [whole: string, fence: string, record: Buffer] | [] {
  const match = /^(\d{1,15}) \d{1,6} /.exec(bytes.subarray(0, 40).toString('latin1'));
  return match ? [match[0], match[1] as string, bytes.subarray(match[0].length)] : [];
}

const toRedisFailure = (error: unknown): RedisFailure =>
  error instanceof RedisFailure ? error : new RedisFailure('unknown');
