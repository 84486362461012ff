import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { NoToken } from '../auth/authorized-call.js';
import type { BankCondition } from '../auth/bank-condition.js';
import { BackOff } from '../back-off.js';
import type { AccountReader } from '../bank/account-reader.js';
import type { Clock } from '../clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';
import type { SnapshotSettings } from '../config/settings.js';
import { createAccountMaker } from './account-maker.js';
import { buildSnapshot } from './build-snapshot.js';
import { createPause } from './pause.js';
import type { Snapshot } from './snapshot.js';

/** What a caller asks by Cache-Control (RFC 9111 §5.2.1). */
export interface Freshness {
  readonly noCache: boolean;
  /** Seconds. */
  readonly maxAge: number | null;
  readonly onlyIfCached: boolean;
}

/** A snapshot as it is served: how it came, and whether it is older than it should be. */
export interface ServedSnapshot {
  readonly snapshot: Snapshot;
  readonly ageMs: number;
  readonly stale: boolean;
  /** RFC 9211: not asked for; nothing held, held but too old, held but not wanted. */
  readonly cache: 'hit' | 'miss' | 'stale' | 'request';
  /** Whether a reading was waited for that somebody else had begun. */
  readonly collapsed: boolean;
  /** Why it is stale, where the bank was asked in vain. */
  readonly failure: ProblemCode | null;
  /** The reading that was waited for, else null. */
  readonly readingId: string | null;
}

/** How an answer came, before it is known what it is. */
type Way = Pick<ServedSnapshot, 'cache' | 'collapsed'>;

const FROM_STORE: Way = { cache: 'hit', collapsed: false };

interface Reading {
  readonly id: string;
  readonly result: Promise<Snapshot>;
}

/** Is told which reading a caller waits for, and what to call when he leaves: his place is then free again. */
export type OnWaiting = (readingId: string, leave: () => void) => void;

class CallerLeft extends GatewayError {
  constructor() {
    super('request-timeout', 'The caller has left.');
  }
}

const NOW_MEANS_MS = 1000;

/**
 * Keeps the last complete reading and says who gets it (contract §3, Freshness): one reading in flight whoever asks; a
 * fresh copy without asking; an older one, marked stale, while the bank is slow or failing; nothing past its last age.
 */
export class SnapshotKeeper {
  readonly #reader: AccountReader;
  readonly #settings: SnapshotSettings;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #condition: BankCondition;
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  #held: Snapshot | null = null;
  #reading: Reading | null = null;
  #waiting = 0;
  #servedStale = false;

  constructor(parts: {
    reader: AccountReader;
    settings: SnapshotSettings;
    clock: Clock;
    logger: Logger;
    condition: BankCondition;
  }) {
    this.#reader = parts.reader;
    this.#settings = parts.settings;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#condition = parts.condition;
    this.#backOff = new BackOff(parts.clock);
  }

  /**
   * The snapshot for one caller, within REQUEST_DEADLINE_MS.
   * @throws GatewayError not-cached, overloaded, bank-timeout, or what the reading failed with
   */
  async get(wish: Freshness, onWaiting: OnWaiting = () => undefined): Promise<ServedSnapshot> {
    return this.getHeld(wish) ?? this.#ask(wish, onWaiting);
  }

  /**
   * The snapshot for one caller when what is held will do, else null: then the bank must be asked.
   * @throws GatewayError not-cached
   */
  getHeld(wish: Freshness): ServedSnapshot | null {
    const held = this.#servable;
    const ageMs = held ? this.#clock.since(held.askedAt) : Infinity;
    const { freshMs } = this.#settings;
    if (!wish.onlyIfCached) {
      const limitMs = wish.noCache ? this.#nowMs : Math.min(freshMs, toMs(wish.maxAge));
      return held && ageMs <= limitMs ? this.#serve(held, FROM_STORE) : null;
    }
    if (!held || ageMs > (wish.noCache ? this.#nowMs : toMs(wish.maxAge))) {
      throw new GatewayError(
        'not-cached',
        'Nothing is held that is young enough, and the call asked not to ask the bank.',
      );
    }
    return { ...this.#serve(held, FROM_STORE), stale: ageMs > freshMs };
  }

  /** A background reading when failures have been waited out, so that readiness comes back without a caller. */
  probe(): Promise<unknown> | null {
    if (this.#reading) return this.#reading.result;
    return this.#backOff.circuit === 'half-open' ? this.#startReading().result : null;
  }

  /** Lets the next caller ask at once. */
  endWait(): void {
    this.#backOff.endWait();
  }

  status() {
    const held = this.#held;
    const ageMs = held ? this.#clock.since(held.askedAt) : null;
    const servable = ageMs !== null && ageMs <= this.#lastAgeMs;
    return {
      asOf: held?.asOf ?? null,
      ageMs,
      accounts: held?.accounts.length ?? null,
      /** A caller would get it now. */
      servable,
      /** What callers get is older than it should be. */
      stale: servable ? this.#servedStale : held !== null && this.#backOff.lastError !== null,
      failing: this.#backOff.lastError !== null,
      circuit: this.#backOff.circuit,
    };
  }

  /** Ends the reading in flight, for the stop. */
  close(): void {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
  }

  /** How old a reading may be to count as one of now, ms. */
  get #nowMs(): number {
    return Math.max(NOW_MEANS_MS, this.#held?.durationMs ?? 0);
  }

  /** What is held, unless it is past its last age. */
  get #servable(): Snapshot | null {
    const held = this.#held;
    return held && this.#clock.since(held.askedAt) <= this.#lastAgeMs ? held : null;
  }

  get #lastAgeMs(): number {
    return Math.max(this.#settings.staleMs, this.#settings.freshMs);
  }

  /** Starts a reading or joins the one in flight; falls back on what is held where the wish allows it. */
  async #ask(wish: Freshness, onWaiting: OnWaiting): Promise<ServedSnapshot> {
    const mayBeStale = !wish.noCache && wish.maxAge === null;
    const waiting = this.#reading ? null : this.#backOff.waiting;
    if (waiting) {
      const fallback = mayBeStale ? this.#serveStale(FROM_STORE, waiting.code) : null;
      if (fallback) return fallback;
      throw waiting;
    }
    const held = this.#held;
    const fresh = held !== null && this.#clock.since(held.askedAt) <= this.#settings.freshMs;
    const way: Way = { cache: held ? (fresh ? 'request' : 'stale') : 'miss', collapsed: this.#reading !== null };
    const left = Promise.withResolvers<never>();
    left.promise.catch(() => undefined);
    const reading = this.#reading ?? this.#startReading();
    onWaiting(reading.id, () => left.reject(new CallerLeft()));
    const result = Promise.race([reading.result, left.promise]);
    // whoever has left does not make it an unhandled one
    result.catch(() => undefined);
    return this.#wait({ id: reading.id, result }, way, mayBeStale);
  }

  async #wait(reading: Reading, way: Way, mayBeStale: boolean): Promise<ServedSnapshot> {
    const { maxRequestsWaiting, requestDeadlineMs, softTimeoutMs } = this.#settings;
    if (this.#waiting >= maxRequestsWaiting) {
      const fallback = mayBeStale ? this.#serveStale(way, null) : null;
      if (fallback) return fallback;
      throw new GatewayError(
        'overloaded',
        `${maxRequestsWaiting} callers are waiting for the bank already (MAX_REQUESTS_WAITING).`,
        { retryAfterMs: 1000 },
      );
    }
    this.#waiting += 1;
    try {
      if (mayBeStale && this.#servable !== null) {
        const soonMs = Math.min(softTimeoutMs, requestDeadlineMs);
        const soon = await within(reading.result, soonMs);
        if (soon) return { ...this.#serve(soon, way), readingId: reading.id };
        // it may have grown too old meanwhile
        const fallback = this.#serveStale(way, null);
        if (fallback) return fallback;
        const late = await within(reading.result, requestDeadlineMs - soonMs);
        if (late) return { ...this.#serve(late, way), readingId: reading.id };
      } else {
        const snapshot = await within(reading.result, requestDeadlineMs);
        if (snapshot) return { ...this.#serve(snapshot, way), readingId: reading.id };
      }
    } catch (thrown) {
      const { code } = toGatewayError(thrown);
      // what is not granted is dropped; who has left is given nothing
      const mayFallBack = mayBeStale && code !== 'access-not-granted' && !(thrown instanceof CallerLeft);
      const fallback = mayFallBack ? this.#serveStale(way, code) : null;
      if (fallback) return fallback;
      throw thrown;
    } finally {
      this.#waiting -= 1;
    }
    throw new GatewayError(
      'bank-timeout',
      `The bank gave no complete list within ${requestDeadlineMs} ms (REQUEST_DEADLINE_MS); it is still being asked.`,
    );
  }

  #serve(snapshot: Snapshot, way: Way): ServedSnapshot {
    const ageMs = Math.max(0, this.#clock.since(snapshot.askedAt));
    return { snapshot, ageMs, stale: false, failure: null, readingId: null, ...way };
  }

  /** What is held, marked; null when it is past its last age. */
  #serveStale(way: Way, failure: ProblemCode | null): ServedSnapshot | null {
    const held = this.#servable;
    if (!held) return null;
    this.#servedStale = true;
    return { ...this.#serve(held, way), stale: true, failure };
  }

  #startReading(): Reading {
    const id = randomUUID();
    const result = this.#read(id).finally(() => {
      this.#reading = null;
    });
    // callers that have left do not make its failure an unhandled one
    result.catch(() => undefined);
    this.#reading = { id, result };
    return this.#reading;
  }

  async #read(readingId: string): Promise<Snapshot> {
    const { readTimeoutMs } = this.#settings;
    const askedAt = this.#clock.now();
    const timeout = new AbortController();
    const timer = setTimeout(() => {
      timeout.abort(
        new GatewayError(
          'bank-timeout',
          `The bank gave no complete list within ${readTimeoutMs} ms (SNAPSHOT_READ_TIMEOUT_MS).`,
        ),
      );
    }, readTimeoutMs);
    try {
      const before = this.#held;
      const signal = AbortSignal.any([timeout.signal, this.#stop.signal]);
      const list = await this.#reader.readAll(readingId, signal, createAccountMaker(before));
      const pause = createPause();
      const durationMs = () => this.#clock.since(askedAt);
      const snapshot = await buildSnapshot(list.accounts, {
        askedAt,
        complete: list.complete,
        before,
        durationMs,
        pause,
      });
      this.#accept(snapshot, readingId, list.pages);
      return snapshot;
    } catch (thrown) {
      throw this.#noteFailure(toGatewayError(thrown), readingId);
    } finally {
      clearTimeout(timer);
    }
  }

  #accept(snapshot: Snapshot, readingId: string, pages: number): void {
    const before = this.#held;
    this.#held = snapshot;
    this.#servedStale = false;
    this.#backOff.succeeded();
    this.#condition.succeeded('reading');
    const { complete, durationMs } = snapshot;
    const accounts = snapshot.accounts.length;
    const fields = { readingId, accounts, pages, complete, ms: Math.round(durationMs) };
    this.#logger.info({ event: 'snapshot.refreshed', ...fields }, 'accounts read');
    if (complete === false) {
      this.#logger.warn(
        { event: 'snapshot.incomplete', ...fields },
        'the list changed while it was read, twice; it may lack or repeat accounts',
      );
    }
    if (accounts === 0 && before && before.accounts.length > 0) {
      this.#logger.warn(
        { event: 'snapshot.emptied', ...fields, before: before.accounts.length },
        'the bank lists no accounts any more',
      );
    }
  }

  #noteFailure(error: GatewayError, readingId: string): GatewayError {
    if (error.code === 'stopping' || error instanceof NoToken) return error;
    if (error.code === 'access-not-granted') this.#held = null;
    if (error.code === 'internal-error')
      this.#logger.error({ event: 'snapshot.failed', readingId, err: error }, 'reading failed by a fault of ours');
    const waiting = this.#backOff.failed(error);
    this.#condition.failed('reading', error);
    this.#logger[error.needsSomeone && error.code !== 'internal-error' ? 'error' : 'warn'](
      {
        event: 'snapshot.failed',
        readingId,
        code: error.code,
        owner: error.owner,
        detail: error.detail,
        retryInMs: Math.round(waiting.retryAfterMs ?? 0),
      },
      'the accounts could not be read',
    );
    return waiting;
  }
}

const toMs = (seconds: number | null): number => (seconds === null ? Infinity : seconds * 1000);

/** What a promise gives, or null when it takes longer than `ms`. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => (timer = setTimeout(resolve, ms, null)));
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
