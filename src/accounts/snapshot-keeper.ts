import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { NoToken } from '../auth/authorized-call.js';
import type { BankCondition } from '../auth/bank-condition.js';
import { BackOff } from '../back-off.js';
import type { AccountReader } from '../bank/account-reader.js';
import type { Clock } from '../clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { SnapshotSettings } from '../settings/settings.js';
import { toSnapshot, type Snapshot } from './snapshot.js';

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
  /** RFC 9211: held, nothing held, held but too old, held but not wanted. */
  readonly cache: 'hit' | 'miss' | 'stale' | 'request';
  /** The reading that was waited for, else null. */
  readonly readingId: string | null;
}

interface Reading {
  readonly id: string;
  readonly result: Promise<Snapshot>;
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
  async get(wish: Freshness): Promise<ServedSnapshot> {
    const held = this.#held;
    const ageMs = held ? this.#clock.since(held.askedAt) : Infinity;
    const { freshMs } = this.#settings;
    const servable = held && ageMs <= this.#lastAgeMs ? held : null;
    if (wish.onlyIfCached) {
      const youngEnough = servable && (wish.maxAge === null || ageMs <= wish.maxAge * 1000);
      if (!youngEnough)
        throw new GatewayError(
          'not-cached',
          'Nothing is held that is young enough, and the call asked not to ask the bank.',
        );
      return this.#serve(servable, 'hit', ageMs > freshMs);
    }
    const limitMs = wish.noCache
      ? Math.max(NOW_MEANS_MS, held?.durationMs ?? 0)
      : wish.maxAge === null
        ? freshMs
        : Math.min(freshMs, wish.maxAge * 1000);
    if (servable && ageMs <= limitMs) return this.#serve(servable, 'hit', false);

    const cache = !held ? 'miss' : ageMs <= freshMs ? 'request' : 'stale';
    const mayBeStale = !wish.noCache && wish.maxAge === null;
    const fallback = mayBeStale ? servable : null;
    const waiting = this.#reading ? null : this.#backOff.waiting;
    if (waiting) {
      if (fallback) return this.#serve(fallback, 'stale', true);
      throw waiting;
    }
    return this.#wait(this.#reading ?? this.#startReading(), fallback, cache);
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
      asOf: held ? toAsOf(held) : null,
      ageMs,
      accounts: held?.accounts.length ?? null,
      /** A caller would get it now. */
      servable,
      /** What callers get is older than it should be. */
      stale: this.#servedStale && servable,
      failing: this.#backOff.lastError !== null,
      circuit: this.#backOff.circuit,
    };
  }

  /** Ends the reading in flight, for the stop. */
  close(): void {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
  }

  get #lastAgeMs(): number {
    return Math.max(this.#settings.staleMs, this.#settings.freshMs);
  }

  async #wait(reading: Reading, fallback: Snapshot | null, cache: ServedSnapshot['cache']): Promise<ServedSnapshot> {
    const { maxRequestsWaiting, requestDeadlineMs, softTimeoutMs } = this.#settings;
    if (this.#waiting >= maxRequestsWaiting) {
      if (fallback) return this.#serve(fallback, 'stale', true);
      throw new GatewayError(
        'overloaded',
        `${maxRequestsWaiting} callers are waiting for the bank already (MAX_REQUESTS_WAITING).`,
        { retryAfterMs: 1000 },
      );
    }
    this.#waiting += 1;
    const waitMs = fallback ? Math.min(softTimeoutMs, requestDeadlineMs) : requestDeadlineMs;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => (timer = setTimeout(resolve, waitMs, null)));
    try {
      const snapshot = await Promise.race([reading.result, timeout]);
      if (snapshot) return { ...this.#serve(snapshot, cache, false), readingId: reading.id };
      if (fallback) return this.#serve(fallback, 'stale', true);
      throw new GatewayError(
        'bank-timeout',
        `The bank gave no complete list within ${requestDeadlineMs} ms (REQUEST_DEADLINE_MS); it is still being asked.`,
      );
    } catch (error) {
      const dropped = error instanceof GatewayError && error.code === 'access-not-granted';
      if (fallback && !dropped) return this.#serve(fallback, 'stale', true);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#waiting -= 1;
    }
  }

  #serve(snapshot: Snapshot, cache: ServedSnapshot['cache'], stale: boolean): ServedSnapshot {
    this.#servedStale = stale;
    return { snapshot, ageMs: Math.max(0, this.#clock.since(snapshot.askedAt)), stale, cache, readingId: null };
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
      const list = await this.#reader.readAll(readingId, AbortSignal.any([timeout.signal, this.#stop.signal]));
      const snapshot = toSnapshot(list, askedAt, this.#clock.since(askedAt));
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
    this.#logger.warn(
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

/** When the bank was asked, as the contract writes it. */
export function toAsOf(snapshot: Snapshot): string {
  return new Date(snapshot.askedAt.wall).toISOString();
}
