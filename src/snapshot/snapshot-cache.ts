import { randomUUID } from 'node:crypto';
import type { Span } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import { NoToken } from '../auth/authorized-call.js';
import type { BankCondition } from '../auth/bank-condition.js';
import { BackOff } from '../time/back-off.js';
import type { Clock, Instant } from '../time/clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { Owner, ProblemCode } from '../problems/problem-table.js';
import type { Settings } from '../config/settings.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { inRefreshSpan, Waiting } from '../telemetry/spans.js';
import { RefreshLog } from './refresh-log.js';
import type { Snapshot } from './snapshot.js';
import type { Acceptable, ReadAccounts, ReadSnapshot } from './snapshot-reader.js';
import { WaitingPlaces, type WaitingPlace } from './waiting-places.js';

type SnapshotSettings = Pick<
  Settings,
  | 'SNAPSHOT_FRESH_MS'
  | 'SNAPSHOT_SOFT_TIMEOUT_MS'
  | 'SNAPSHOT_MAX_AGE_MS'
  | 'SNAPSHOT_READ_TIMEOUT_MS'
  | 'REQUEST_DEADLINE_MS'
  | 'MAX_REQUESTS_WAITING'
>;

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
  readonly refreshId: string | null;
}

type CacheOutcome = Pick<ServedSnapshot, 'cache' | 'collapsed'>;

const HIT: CacheOutcome = { cache: 'hit', collapsed: false };

interface Refresh {
  readonly id: string;
  readonly askedAt: Instant;
  readonly result: Promise<Snapshot>;
  readonly waiting: Waiting;
}

/** One who asks, where that matters while they wait. */
interface Caller {
  /** Aborted when they leave: their place is then free again. */
  readonly signal?: AbortSignal;
  /** Whose share of MAX_REQUESTS_WAITING their place counts to: an address. */
  readonly client?: string;
  /** The reading they wait for is linked to it. */
  readonly span?: Span | undefined;
  /** Called with the id of the reading they wait for. */
  readonly onRefresh?: (refreshId: string) => void;
}

/** Whether callers get what they should. All is well when it is not stale and there is no code. */
export interface ServingState {
  /** What callers get is older than it should be. */
  readonly stale: boolean;
  /** What the last reading failed with, if none has gone well since. */
  readonly code: ProblemCode | null;
  readonly owner: Owner | null;
}

/** Is told what the cache holds, as it happens, wherever a snapshot came from. What it does must not throw, nor last. */
export interface SnapshotListener {
  /** A newer snapshot is held; the data may be the same. */
  onSnapshot?(snapshot: Snapshot): void;
  /** A reading failed; `keeper.state` tells what callers get now. */
  onFailure?(error: GatewayError): void;
  /** What was held may not be served any more: no accounts are granted. */
  onDropped?(): void;
}

export class CallerLeft extends GatewayError {
  constructor() {
    super('request-timeout', 'The caller has left.');
  }
}

const NOW_MEANS_MS = 1000;
const ANY: Freshness = { noCache: false, maxAge: null, onlyIfCached: false };

/**
 * Keeps the last complete reading and says who gets it (docs/api.md#freshness): one reading in flight no matter how many ask; a
 * fresh copy without asking; an older one, marked stale, while the bank is slow or failing; nothing past its last age.
 */
export class SnapshotCache {
  readonly #reader: { readonly read: ReadAccounts };
  readonly #settings: SnapshotSettings;
  readonly #clock: Clock;
  readonly #log: RefreshLog;
  readonly #activity: Activity;
  readonly #condition: BankCondition;
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  #cached: Snapshot | null = null;
  #refresh: Refresh | null = null;
  /** The one after that in flight, for those whom that cannot satisfy. */
  #next: Refresh | null = null;
  readonly #places: WaitingPlaces;
  #servedStale = false;
  #failure: GatewayError | null = null;
  /** What is held was made before the start: it is served marked stale until a reading has gone well. */
  #restored = false;
  /** An earlier refresh listed accounts; forgotten on SIGHUP. */
  #hadAccounts = false;
  readonly #listeners = new Set<SnapshotListener>();

  constructor(parts: {
    reader: { readonly read: ReadAccounts };
    settings: SnapshotSettings;
    clock: Clock;
    logger: Logger;
    activity: Activity;
    condition: BankCondition;
  }) {
    this.#reader = parts.reader;
    this.#settings = parts.settings;
    this.#clock = parts.clock;
    this.#log = new RefreshLog(parts.logger);
    this.#activity = parts.activity;
    this.#condition = parts.condition;
    this.#places = new WaitingPlaces(parts.settings.MAX_REQUESTS_WAITING);
    this.#backOff = new BackOff(parts.clock);
  }

  /** Holds a copy from before the start, which callers get marked stale while the first reading runs. */
  restore(snapshot: Snapshot): void {
    if (this.#cached) return;
    this.#cached = snapshot;
    this.#hadAccounts = snapshot.size > 0;
    this.#restored = true;
    this.#log.restored(snapshot);
    this.#activity.emit('snapshotTaken', { source: 'file' });
    for (const listener of this.#listeners) listener.onSnapshot?.(snapshot);
  }

  /** Serves what is held no longer, where another instance was told that no accounts are granted any more. */
  drop(): void {
    if (this.#cached) this.#drop();
  }

  /**
   * The snapshot for one caller, within REQUEST_DEADLINE_MS.
   * @throws GatewayError not-cached, overloaded, bank-timeout, or what the reading failed with
   */
  async get(wanted: Freshness, caller: Caller = {}): Promise<ServedSnapshot> {
    return this.getCached(wanted) ?? this.#ask(wanted, caller);
  }

  /**
   * The snapshot for one caller when what is held will do, else null: then the bank must be asked.
   * @throws GatewayError not-cached
   */
  getCached(wanted: Freshness): ServedSnapshot | null {
    const held = this.#servable;
    const ageMs = held ? this.#clock.since(held.askedAt) : Infinity;
    const { SNAPSHOT_FRESH_MS: freshMs } = this.#settings;
    if (!wanted.onlyIfCached) {
      if (!held || this.#restored) return null;
      return ageMs <= this.#acceptable(wanted).maxAgeMs(held.durationMs) ? this.#serve(held, HIT) : null;
    }
    if (!held || ageMs > (wanted.noCache ? this.#nowMs : toMs(wanted.maxAge))) {
      throw new GatewayError(
        'not-cached',
        'Nothing is held that is young enough, and the call asked not to ask the bank.',
      );
    }
    return { ...this.#serve(held, HIT), stale: ageMs > freshMs || this.#restored };
  }

  /**
   * A background reading when none has gone well yet, or when failures have been waited out, so that readiness comes
   * without a caller.
   */
  probe(): Promise<unknown> | null {
    if (this.#refresh) return this.#refresh.result;
    const { circuit } = this.#backOff;
    const due = circuit === 'half-open' || (circuit === 'closed' && (this.#cached === null || this.#restored));
    return due ? this.#startRefresh(ANY).result : null;
  }

  /** Has a listener told from now on, until the function it gives is called. */
  listen(listener: SnapshotListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * For those who want what is held to stay fresh without asking for it: starts a reading when it is older than
   * SNAPSHOT_FRESH_MS, unless one is in flight or a failure is being waited out. Gives the ms until it is worth calling again.
   */
  keepFresh(): number {
    const { SNAPSHOT_FRESH_MS: freshMs } = this.#settings;
    if (this.#refresh) return freshMs;
    const waiting = this.#backOff.waiting;
    if (waiting) return waiting.retryAfterMs ?? freshMs;
    const leftMs = this.#cached && !this.#restored ? freshMs - this.#clock.since(this.#cached.askedAt) : -1;
    // served without asking up to this age, and that included
    if (leftMs >= 0) return leftMs + 1;
    this.#startRefresh(ANY);
    return freshMs;
  }

  /** Ends the waiting after failures: the next caller may cause a reading at once. */
  resetBackOff(): void {
    this.#hadAccounts = (this.#cached?.size ?? 0) > 0;
    this.#backOff.resetBackOff();
  }

  /** What a caller who says nothing of freshness would be told now. */
  get state(): ServingState {
    const held = this.#servable;
    const old = held !== null && this.#clock.since(held.askedAt) > this.#settings.SNAPSHOT_FRESH_MS;
    return {
      stale: old && (this.#failure !== null || this.#late || this.#servedStale),
      code: this.#failure?.code ?? null,
      owner: this.#failure?.owner ?? null,
    };
  }

  get #late(): boolean {
    return (
      this.#refresh !== null && this.#clock.since(this.#refresh.askedAt) >= this.#settings.SNAPSHOT_SOFT_TIMEOUT_MS
    );
  }

  status() {
    const held = this.#cached;
    const ageMs = held ? this.#clock.since(held.askedAt) : null;
    const servable = ageMs !== null && ageMs <= this.#maxAgeMs;
    return {
      asOf: held?.asOf ?? null,
      ageMs,
      accounts: held?.size ?? null,
      /** A caller would get it now. */
      servable,
      /** What callers get is older than it should be. */
      stale: servable
        ? this.#servedStale || this.#restored || this.state.stale
        : held !== null && this.#backOff.lastError !== null,
      failing: this.#backOff.lastError !== null,
      /** ISO time at which the cached snapshot stops being served. */
      expiresAt: ageMs === null ? null : new Date(this.#clock.now().wall + this.#maxAgeMs - ageMs).toISOString(),
      /** The bank lists no accounts, and listed some before. */
      emptied: this.#hadAccounts && held?.size === 0,
      restored: this.#restored,
      /** The refresh in flight is past the soft timeout. */
      slow: this.#late,
      /** The last failure of the current series; a missing token is none of the list. */
      error: this.#backOff.lastError,
      failure: this.#backOff.status(),
      circuit: this.#backOff.circuit,
      /** The bank's own count agrees; null when it gave none, or nothing is held. */
      complete: held?.complete ?? null,
      /** Callers that wait for the bank. */
      callersWaiting: this.#places.taken,
    };
  }

  /** Ends the reading in flight. */
  onApplicationShutdown(): void {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
  }

  /** How old a reading may be to count as one of now, ms. */
  get #nowMs(): number {
    return toNowMs(this.#cached?.durationMs ?? 0);
  }

  #acceptable({ noCache, maxAge }: Freshness): Acceptable {
    const { SNAPSHOT_FRESH_MS: freshMs } = this.#settings;
    return {
      maxAgeMs: (durationMs) => (noCache ? toNowMs(durationMs) : Math.min(freshMs, toMs(maxAge))),
      maxBegunMs: Math.max(NOW_MEANS_MS, toMs(maxAge)),
    };
  }

  /** What is held, unless it is past its last age. */
  get #servable(): Snapshot | null {
    const held = this.#cached;
    return held && this.#clock.since(held.askedAt) <= this.#maxAgeMs ? held : null;
  }

  get #maxAgeMs(): number {
    return Math.max(this.#settings.SNAPSHOT_MAX_AGE_MS, this.#settings.SNAPSHOT_FRESH_MS);
  }

  /** Starts a reading or joins one; falls back on what is held where the caller allows it. */
  async #ask(wanted: Freshness, caller: Caller): Promise<ServedSnapshot> {
    const mayBeStale = !wanted.noCache && wanted.maxAge === null;
    const waiting = this.#refresh ? null : this.#backOff.waiting;
    if (waiting) {
      const fallback = mayBeStale ? this.#serveStale(HIT, waiting.code) : null;
      if (fallback) return fallback;
      throw waiting;
    }
    const held = this.#cached;
    const fresh =
      held !== null && !this.#restored && this.#clock.since(held.askedAt) <= this.#settings.SNAPSHOT_FRESH_MS;
    const outcome: CacheOutcome = {
      cache: held ? (fresh ? 'request' : 'stale') : 'miss',
      collapsed: this.#refresh !== null,
    };
    const refresh = this.#refreshFor(wanted);
    caller.onRefresh?.(refresh.id);
    refresh.waiting.add(caller.span);
    const { signal, client = '' } = caller;
    if (this.#restored && mayBeStale) {
      const earlier = this.#serveStale(outcome, null);
      if (earlier) return earlier;
    }
    const young = mayBeStale ? refresh.result : this.#youngEnough(refresh, wanted, this.#clock.now());
    if (!signal) return this.#wait({ id: refresh.id, result: young }, client, outcome, mayBeStale);
    const result = orAborted(young, signal).catch((error: unknown) => {
      throw signal.aborted ? new CallerLeft() : error;
    });
    // it may be refused a place to wait
    result.catch(() => undefined);
    return this.#wait({ id: refresh.id, result }, client, outcome, mayBeStale);
  }

  /** The one in flight, unless it began too long ago for a max-age: then the one after it, which begins when it ends. */
  #refreshFor(wanted: Freshness): Refresh {
    const current = this.#refresh;
    if (!current) return this.#startRefresh(wanted);
    if (this.#clock.since(current.askedAt) <= this.#acceptable(wanted).maxBegunMs) return current;
    this.#next ??= this.#startAfter(current, wanted);
    return this.#next;
  }

  /** What the reading gives; the next one's where it was for callers who ask less, and another instance's would do for them. */
  async #youngEnough(refresh: Refresh, wanted: Freshness, askedAt: Instant): Promise<Snapshot> {
    const snapshot = await refresh.result;
    const ageMs = this.#clock.since(snapshot.askedAt) - this.#clock.since(askedAt);
    const { maxAgeMs, maxBegunMs } = this.#acceptable(wanted);
    if (ageMs <= (wanted.noCache ? maxAgeMs(snapshot.durationMs) : maxBegunMs)) return snapshot;
    return this.#refreshFor(wanted).result;
  }

  #startAfter(current: Refresh, wanted: Freshness): Refresh {
    const id = randomUUID();
    const waiting = new Waiting();
    const result = current.result
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        const failure = this.#backOff.waiting;
        if (failure) throw failure;
        const next = this.#refresh ?? this.#startRefresh(wanted, id);
        next.waiting.addAll(waiting);
        return next.result;
      });
    result.catch(() => undefined);
    return { id, askedAt: this.#clock.now(), result, waiting };
  }

  async #wait(
    refresh: Pick<Refresh, 'id' | 'result'>,
    client: string,
    outcome: CacheOutcome,
    mayBeStale: boolean,
  ): Promise<ServedSnapshot> {
    const { REQUEST_DEADLINE_MS: requestDeadlineMs, SNAPSHOT_SOFT_TIMEOUT_MS: softTimeoutMs } = this.#settings;
    let place: WaitingPlace | null = null;
    try {
      place = this.#places.take(client);
      const result = orAborted(refresh.result, place.lost);
      if (mayBeStale && this.#servable !== null) {
        const soonMs = Math.min(softTimeoutMs, requestDeadlineMs);
        const soon = await within(result, soonMs);
        if (soon !== TIMED_OUT) return { ...this.#serve(soon, outcome), refreshId: refresh.id };
        // it may have grown too old meanwhile
        const fallback = this.#serveStale(outcome, null);
        if (fallback) return fallback;
        const late = await within(result, requestDeadlineMs - soonMs);
        if (late !== TIMED_OUT) return { ...this.#serve(late, outcome), refreshId: refresh.id };
      } else {
        const snapshot = await within(result, requestDeadlineMs);
        if (snapshot !== TIMED_OUT) return { ...this.#serve(snapshot, outcome), refreshId: refresh.id };
      }
    } catch (thrown) {
      const { code } = toGatewayError(thrown);
      // what is not granted is dropped; a caller that has left is given nothing
      const mayFallBack = mayBeStale && code !== 'access-not-granted' && !(thrown instanceof CallerLeft);
      const fallback = mayFallBack ? this.#serveStale(outcome, code === 'overloaded' ? null : code) : null;
      if (fallback) return fallback;
      throw thrown;
    } finally {
      place?.leave();
    }
    throw new GatewayError(
      'bank-timeout',
      `The bank gave no complete list within ${requestDeadlineMs} ms (REQUEST_DEADLINE_MS); it is still being asked.`,
    );
  }

  #serve(snapshot: Snapshot, outcome: CacheOutcome): ServedSnapshot {
    const ageMs = Math.max(0, this.#clock.since(snapshot.askedAt));
    return { snapshot, ageMs, stale: false, failure: null, refreshId: null, ...outcome };
  }

  /** What is held, marked; null when it is past its last age. */
  #serveStale(outcome: CacheOutcome, failure: ProblemCode | null): ServedSnapshot | null {
    const held = this.#servable;
    if (!held) return null;
    this.#servedStale = true;
    return { ...this.#serve(held, outcome), stale: true, failure };
  }

  #startRefresh(wanted: Freshness, id = randomUUID()): Refresh {
    const askedAt = this.#clock.now();
    const waiting = new Waiting();
    const toAttributes = ({ size, complete }: Snapshot) => ({
      'accounts_gateway.accounts': size,
      ...(complete !== null && { 'accounts_gateway.complete': complete }),
    });
    const result = inRefreshSpan(id, waiting, () => this.#read(id, wanted), toAttributes).finally(() => {
      this.#refresh = null;
    });
    // callers that have left do not make its failure an unhandled one
    result.catch(() => undefined);
    this.#refresh = { id, askedAt, result, waiting };
    return this.#refresh;
  }

  async #read(refreshId: string, wanted: Freshness): Promise<Snapshot> {
    const { SNAPSHOT_READ_TIMEOUT_MS: readTimeoutMs } = this.#settings;
    const started = performance.now();
    const ended = (code: ProblemCode | null) =>
      this.#activity.emit('refreshEnded', { ms: performance.now() - started, code });
    const timeout = AbortSignal.timeout(readTimeoutMs);
    try {
      const signal = AbortSignal.any([timeout, this.#stop.signal]);
      const read = await this.#reader.read(refreshId, signal, this.#acceptable(wanted));
      this.#accept(read, refreshId);
      // another instance's is counted there
      if (read.source !== 'shared') ended(null);
      return read.snapshot;
    } catch (thrown) {
      const error = timeout.aborted
        ? new GatewayError(
            'bank-timeout',
            `The bank gave no complete list within ${readTimeoutMs} ms (SNAPSHOT_READ_TIMEOUT_MS).`,
          )
        : toGatewayError(thrown);
      if (error.code !== 'stopping') ended(error.code);
      throw this.#noteFailure(error, refreshId);
    }
  }

  #accept(read: ReadSnapshot, refreshId: string): void {
    const { snapshot, source = 'bank' } = read;
    const before = this.#cached;
    this.#cached = snapshot;
    if (snapshot.size > 0) this.#hadAccounts = true;
    this.#servedStale = false;
    this.#failure = null;
    this.#restored = false;
    this.#backOff.succeeded();
    this.#condition.succeeded('refresh');
    this.#log.taken(read, before, refreshId);
    this.#activity.emit('snapshotTaken', { source });
    for (const listener of this.#listeners) listener.onSnapshot?.(snapshot);
  }

  #noteFailure(thrown: GatewayError, refreshId: string): GatewayError {
    if (thrown.code === 'stopping') return thrown;
    const error = thrown instanceof NoToken ? thrown : this.#waitAfter(thrown, refreshId);
    this.#failure = error;
    for (const listener of this.#listeners) listener.onFailure?.(error);
    return error;
  }

  #drop(): void {
    this.#cached = null;
    this.#restored = false;
    for (const listener of this.#listeners) listener.onDropped?.();
  }

  #waitAfter(error: GatewayError, refreshId: string): GatewayError {
    if (error.code === 'access-not-granted') this.#drop();
    const waiting = this.#backOff.failed(error);
    this.#condition.failed('refresh', error);
    this.#log.failed(error, waiting.retryAfterMs ?? 0, refreshId);
    return waiting;
  }
}

const toNowMs = (durationMs: number): number => Math.max(NOW_MEANS_MS, durationMs);

const toMs = (seconds: number | null): number => (seconds === null ? Infinity : seconds * 1000);
