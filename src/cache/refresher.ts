import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { NoToken } from '../auth/authorized-call.js';
import type { BankIdentity } from '../auth/bank-identity.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Settings } from '../config/settings.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { withOwner } from '../errors/problem-table.js';
import { SnapshotSource, type RefreshRequest, type Snapshot } from '../snapshot/snapshot-source.js';
import { Activity } from '../telemetry/activity.js';
import { Log } from '../telemetry/log.js';
import { inRefreshSpan, Waiting } from '../telemetry/spans.js';
import { BackOff } from '../time/back-off.js';
import { Clock, type Instant } from '../time/clock.js';
import { Stopwatch } from '../time/stopwatch.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { acceptsCopy, toFreshMs, type Freshness } from './freshness.js';

export interface Refresh {
  readonly id: string;
  readonly startedAt: Instant;
  readonly ownWork: Stopwatch;
  /** Why it waits, if the bank asked it to. */
  asked: GatewayError | null;
  readonly result: Promise<Snapshot>;
  /** The requests that wait for this refresh. */
  readonly waiting: Waiting;
}

/** The refreshes of one identity: a rejection of another one does not apply to it. */
interface Attempts {
  readonly backOff: BackOff;
  /** True if the last refresh failed. */
  failed: boolean;
}

/** At most one refresh in flight, and a back-off after failures, which doubles as the circuit breaker. */
@Injectable()
export class Refresher implements OnModuleInit, OnApplicationShutdown {
  readonly #attempts = new WeakMap<BankIdentity, Attempts>();
  readonly #stop = new AbortController();
  #running: Refresh | null = null;

  constructor(
    private readonly cached: CachedSnapshot,
    private readonly source: SnapshotSource,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly activity: Activity,
    private readonly identities: IdentityHolder,
  ) {}

  /** It changes as time passes: read it once per decision. */
  state() {
    const { current } = this.identities;
    const { backOff, failed } = this.#attemptsOf(current);
    // where other instances may have stored a newer copy, a refresh checks for it
    const rejection = this.source.isShared ? null : this.#rejectionTo(current);
    return {
      running: this.#running,
      /** The current series of failed refreshes by this instance and its identity; null without one. */
      trouble: backOff.trouble(),
      /** The error with which a refresh would fail at once during a back-off of the list or the token; else null. */
      rejection,
      /** True if the last refresh failed, or would fail now. */
      failed: failed || rejection !== null,
    };
  }

  /** Ends the back-off of the list. */
  resetBackOff(): void {
    this.#attemptsOf(this.identities.current).backOff.reset();
  }

  async onModuleInit(): Promise<void> {
    await this.#restore();
  }

  /** None may be in flight. */
  start(wanted: Freshness): Refresh {
    const id = randomUUID();
    const startedAt = this.clock.now();
    const ownWork = new Stopwatch(this.clock);
    const waiting = new Waiting();
    const result = inRefreshSpan(id, waiting, () => this.#refresh(id, wanted, ownWork), toAttributes).finally(() => {
      this.#running = null;
    });
    // its failure is handled here; every caller may have left
    result.catch(() => undefined);
    this.#running = { id, startedAt, ownWork, asked: null, result, waiting };
    return this.#running;
  }

  /** Ends the refresh in flight, so that its lock can be released, and then the thread of the cached list. */
  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
    await this.#running?.result.catch(() => undefined);
    await this.source.close();
    await this.cached.end();
  }

  #attemptsOf(identity: BankIdentity): Attempts {
    const known = this.#attempts.get(identity);
    if (known) return known;
    const none: Attempts = { backOff: new BackOff(this.clock), failed: false };
    this.#attempts.set(identity, none);
    return none;
  }

  /** The error during a back-off of the token or of the list: no call goes to the bank. */
  #rejectionTo(identity: BankIdentity): GatewayError | null {
    return identity.tokens.failureNow() ?? this.#attemptsOf(identity).backOff.failureNow();
  }

  /** Returns the snapshot that is cached afterwards, which may be a newer one. @throws GatewayError */
  async #refresh(refreshId: string, wanted: Freshness, ownWork: Stopwatch): Promise<Snapshot> {
    const identity = this.identities.current;
    const attempts = this.#attemptsOf(identity);
    const rejection = this.#rejectionTo(identity);
    const accepts: RefreshRequest['accepts'] = (copy) => acceptsCopy(wanted, copy, this.settings);
    const started = performance.now();
    try {
      const noteAsked: RefreshRequest['noteAsked'] = (error) => {
        if (this.#running) this.#running.asked = error;
      };
      const request = { refreshId, signal: this.#stop.signal, accepts, ownWork, noteAsked };
      const read = await (rejection ? this.source.take(accepts) : this.source.read(request));
      if (!read) throw rejection;
      attempts.failed = false;
      // another instance counts its own refresh, and its copy shows nothing about our calls
      if (read.source === 'bank') {
        this.#emitEnded(started, ownWork, null);
        attempts.backOff.succeeded();
      }
      this.#cache(read, refreshId);
      return this.cached.snapshot ?? read;
    } catch (thrown) {
      const error = toGatewayError(thrown);
      if (error.code === 'stopping') throw error;
      attempts.failed = true;
      if (!rejection) this.#emitEnded(started, ownWork, error);
      const failure = rejection ?? this.#toFailure(error, attempts.backOff, refreshId);
      if (failure.code !== 'access-not-granted' && !this.cached.servable) await this.#restore();
      throw failure;
    }
  }

  /** Takes the stored copy, if it may be served. It is stale until a refresh, unless another instance has just stored it. */
  async #restore(): Promise<void> {
    const copy = await this.source.take(() => true);
    if (!copy) return;
    const isCurrent = copy.source === 'shared' && this.clock.since(copy.askedAt) <= toFreshMs(this.settings);
    this.#cache({ ...copy, isRestored: !isCurrent });
  }

  #emitEnded(started: number, ownWork: Stopwatch, error: GatewayError | null): void {
    const replacedAgeMs = this.cached.servable && this.cached.ageMs;
    const ms = performance.now() - started;
    this.activity.emit('refreshEnded', { ms, waitedMs: ms - ownWork.ms, error, replacedAgeMs });
  }

  #cache(snapshot: Snapshot, refreshId?: string): void {
    const { complete, pages, durationMs, size: accounts, source } = snapshot;
    this.activity.emit('snapshotTaken', { source });
    const wasEmptied = this.cached.isEmptied;
    if (!this.cached.replace(snapshot)) return;
    void snapshot.list.lost.then((error) => this.#logLost(error, refreshId));
    const { logger } = this.log;
    const fields = { refreshId, accounts, pages, complete, ms: Math.round(durationMs), source };
    logger.info({ event: 'snapshot.refreshed', ...fields }, 'accounts refreshed');
    if (complete === false) {
      const message = "the list disagrees with the bank's count or repeats an account";
      logger.warn({ event: 'snapshot.incomplete', ...fields }, message);
    }
    if (this.cached.isEmptied && !wasEmptied) {
      const problem = withOwner('accounts-emptied');
      logger.warn({ event: 'snapshot.emptied', ...problem, ...fields }, 'the bank no longer lists any accounts');
    }
  }

  /** The next call starts a refresh. */
  #logLost(error: GatewayError, refreshId?: string): void {
    const fields = { event: 'snapshot.failed', refreshId, ...error.fields, err: error };
    this.log.logger.error(fields, 'the thread of the cached accounts has ended');
  }

  /** Adds the time until the next attempt to the error. */
  #toFailure(error: GatewayError, backOff: BackOff, refreshId: string): GatewayError {
    // the token provider has its own back-off
    if (error instanceof NoToken) return error;
    const { code, needsSomeone } = error;
    if (code === 'access-not-granted') this.cached.drop();
    const waiting = backOff.failed(error);
    const retryInMs = Math.round(waiting.retryAfterMs ?? 0);
    const fields = { event: 'snapshot.failed', refreshId, ...error.fields, retryInMs };
    const stack = code === 'internal-error' && { err: error };
    this.log.logger[needsSomeone ? 'error' : 'warn']({ ...fields, ...stack }, 'the accounts could not be refreshed');
    return waiting;
  }
}

const toAttributes = ({ size, complete }: Snapshot) => ({
  'accounts_gateway.accounts': size,
  ...(complete !== null && { 'accounts_gateway.complete': complete }),
});
