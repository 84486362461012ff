import { Injectable } from '@nestjs/common';
import type { RequestFields } from '../telemetry/activity.js';
import { Settings } from '../config/settings.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { Clock } from '../time/clock.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { ANY, expiresAt, NOW, satisfies, type Freshness } from './freshness.js';
import { Refresher } from './refresher.js';
import type { Snapshot } from '../snapshot/snapshot-source.js';

type CacheOutcome = Exclude<RequestFields['cache'], 'stale' | undefined>;

export interface ServedSnapshot {
  readonly snapshot: Snapshot;
  /** Served because a refresh failed or takes long, too many callers wait, or it is from an earlier run. */
  readonly stale: boolean;
  readonly cache: CacheOutcome;
  /** The failure behind a stale response. */
  readonly failure: ProblemCode | null;
  /** Time until another call may reach the bank, ms; 0 unless it fails. */
  readonly retryInMs: number;
}

interface Caller {
  /** Aborted when the caller leaves. */
  readonly callerLeft?: AbortSignal;
  /** Receives the id of the refresh that the request waits for. The span of that refresh gets a link to `span`. */
  readonly logFields?: Pick<RequestFields, 'span' | 'refreshId'>;
}

/**
 * Serves a fresh copy without asking the bank; else the result of one refresh that all callers share, or an older copy,
 * marked stale, but none past its maximum age (docs/api.md#freshness).
 */
@Injectable()
export class SnapshotService {
  #callersWaiting = 0;

  constructor(
    private readonly cached: CachedSnapshot,
    private readonly refresher: Refresher,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /**
   * At once from the cache, or within REQUEST_DEADLINE_MS.
   * @throws GatewayError overloaded; bank-timeout, or why the bank makes the refresh wait; the failure of the refresh; the
   * reason of the caller's signal
   */
  get(wanted: Freshness, caller: Caller = {}): ServedSnapshot | Promise<ServedSnapshot> {
    const found = this.cached.find(wanted);
    return found ? toServed(found, 'hit') : this.#getRefreshed(wanted, caller);
  }

  /** The refresh in flight; else a new one, outside a back-off, if none has succeeded yet or the last failed; else null. */
  refreshForHealth(): Promise<unknown> | null {
    const { running, trouble, rejection, failed } = this.refresher.state();
    if (running) return running.result;
    if (trouble?.circuit === 'open' || rejection) return null;
    const { snapshot, isRestored } = this.cached;
    if (!trouble && snapshot && !isRestored && !failed) return null;
    // another instance's copy does not prove that our own calls succeed again
    return this.refresher.start(trouble ? NOW : ANY).result;
  }

  /** Times are ISO 8601. */
  status() {
    const { snapshot, servable, isRestored, isFresh, isEmptied } = this.cached;
    const { running, trouble, failed } = this.refresher.state();
    const softMs = this.settings.SNAPSHOT_SOFT_TIMEOUT_MS;
    const runningMs = running ? this.clock.since(running.startedAt) : 0;
    const slow = running && runningMs - running.ownWork.ms >= softMs ? running.startedAt : null;
    return {
      asOf: snapshot?.asOf ?? null,
      expiresAt: snapshot && expiresAt(snapshot, this.settings),
      ageMs: snapshot && this.cached.ageMs,
      accounts: snapshot?.size ?? null,
      servable: servable !== null,
      stale: servable !== null && !isFresh && (isRestored || failed || runningMs >= softMs),
      emptied: isEmptied,
      complete: snapshot?.complete ?? null,
      callersWaiting: this.#callersWaiting,
      restored: isRestored,
      /** True if the last refresh took another instance's copy: the bank may be failing for this instance. */
      isOfOtherInstance: !failed && snapshot?.source === 'shared',
      /** Start of the refresh in flight, if it has waited for the bank longer than the soft timeout; else null. */
      slowSince: slow && new Date(slow.wall).toISOString(),
      trouble,
    };
  }

  async #getRefreshed(wanted: Freshness, caller: Caller): Promise<ServedSnapshot> {
    const { running, rejection } = this.refresher.state();
    const rejected = running ? null : rejection;
    // a copy from an earlier run is never a hit
    const outcome = rejected && !this.cached.isRestored ? 'hit' : toOutcome(this.cached);
    try {
      if (rejected) throw rejected;
      return await this.#wait(wanted, caller, outcome);
    } catch (thrown) {
      const older = this.#serveStale(wanted, outcome, toGatewayError(thrown));
      if (older === null || caller.callerLeft?.aborted) throw thrown;
      return older;
    }
  }

  /** Waits for a refresh; after the soft timeout, callers get an older copy that satisfies them. */
  async #wait(wanted: Freshness, caller: Caller, outcome: CacheOutcome): Promise<ServedSnapshot> {
    const { REQUEST_DEADLINE_MS: deadlineMs, SNAPSHOT_SOFT_TIMEOUT_MS, MAX_REQUESTS_WAITING } = this.settings;
    if (this.#callersWaiting >= MAX_REQUESTS_WAITING) throw overloaded(MAX_REQUESTS_WAITING);
    const end = new AbortController();
    // why the bank made it wait says more than that it did
    const toReason = () => this.refresher.state().running?.asked ?? tooSlow(deadlineMs);
    const deadline = setTimeout(() => end.abort(toReason()), deadlineMs);
    const signal = AbortSignal.any([end.signal, ...(caller.callerLeft ? [caller.callerLeft] : [])]);
    this.#callersWaiting += 1;
    try {
      const refreshed = this.#refreshed(wanted, caller, signal);
      // a copy from an earlier run is served at once while the first refresh runs
      const softMs = this.cached.isRestored ? 0 : Math.min(SNAPSHOT_SOFT_TIMEOUT_MS, deadlineMs);
      const soon = await within(refreshed, softMs);
      if (soon !== TIMED_OUT) return toServed(soon, outcome);
      const older = this.#serveStale(wanted, outcome, null);
      // for a caller who does not wait for it
      if (older) refreshed.catch(() => undefined);
      return older ?? toServed(await refreshed, outcome);
    } finally {
      this.#callersWaiting -= 1;
      clearTimeout(deadline);
      end.abort();
    }
  }

  /** Joins or starts refreshes until one satisfies the caller. @throws GatewayError of one; the reason of the signal */
  async #refreshed(wanted: Freshness, { logFields }: Caller, signal: AbortSignal): Promise<Snapshot> {
    const requestedAt = this.clock.now();
    for (;;) {
      signal.throwIfAborted();
      const refresh = this.refresher.state().running ?? this.refresher.start(wanted);
      if (logFields) logFields.refreshId = refresh.id;
      refresh.waiting.add(logFields?.span);
      // frees a caller who has left, although the refresh may take another minute
      const snapshot = await orAborted(refresh.result, signal);
      const leadMs = this.clock.since(snapshot.askedAt) - this.clock.since(requestedAt);
      if (satisfies(wanted, leadMs, snapshot.durationMs, this.settings)) return snapshot;
    }
  }

  /** The cached snapshot, marked stale; null if it is past its own maximum age or the caller's. */
  #serveStale(wanted: Freshness, outcome: CacheOutcome, error: GatewayError | null): ServedSnapshot | null {
    const { servable, ageMs } = this.cached;
    if (!servable || ageMs > wanted.maxStaleAgeMs) return null;
    const failure = error?.code ?? null;
    return { ...toServed(servable, outcome), stale: true, failure, retryInMs: error?.retryAfterMs ?? 0 };
  }
}

const toServed = (snapshot: Snapshot, cache: CacheOutcome): ServedSnapshot => ({
  snapshot,
  stale: false,
  cache,
  failure: null,
  retryInMs: 0,
});

function toOutcome({ snapshot, isFresh }: CachedSnapshot): CacheOutcome {
  if (snapshot === null) return 'miss';
  return isFresh ? 'request' : 'refreshed';
}

const overloaded = (max: number) =>
  new GatewayError('overloaded', `${max} callers are already waiting for the bank (MAX_REQUESTS_WAITING).`, {
    retryAfterMs: 1000,
  });

const tooSlow = (deadlineMs: number) =>
  new GatewayError(
    'bank-timeout',
    `The bank sent no complete list within ${deadlineMs} ms (REQUEST_DEADLINE_MS); the refresh continues.`,
  );
