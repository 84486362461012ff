import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { NoToken } from '../auth/authorized-call.js';
import type { BankIdentity } from '../auth/bank-identity.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Settings } from '../config/settings.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { PROBLEMS } from '../errors/problem-table.js';
import { SnapshotSource, type ReadSnapshot, type RefreshRequest, type Snapshot } from '../snapshot/snapshot-source.js';
import { Activity } from '../telemetry/activity.js';
import { Log } from '../telemetry/log.js';
import { inRefreshSpan, Waiting } from '../telemetry/spans.js';
import { BackOff, type Trouble } from '../time/back-off.js';
import { Clock, type Instant } from '../time/clock.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { acceptsCopy, toFreshMs, type Freshness } from './freshness.js';

export interface Refresh {
  readonly id: string;
  readonly startedAt: Instant;
  readonly result: Promise<Snapshot>;
  /** The requests that wait for it. */
  readonly waiting: Waiting;
}

/** The refreshes of the list at one moment. */
export interface RefreshState {
  readonly running: Refresh | null;
  /** The current series of failed refreshes by this instance and its identity; null without one. */
  readonly trouble: Trouble | null;
  /** The error during a back-off of the list or of the token: the bank is not asked. */
  readonly refusal: GatewayError | null;
  /** How the last refresh ended: with a list of the bank, with the copy of another instance, or not; null before one. */
  readonly last: 'bank' | 'shared' | 'failed' | null;
}

/** Refreshes the cached snapshot: one refresh in flight, with a back-off after failures, which is also the circuit breaker. */
@Injectable()
export class Refresher implements OnModuleInit, OnApplicationShutdown {
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  #running: Refresh | null = null;
  #last: RefreshState['last'] = null;
  /** The identity that the last failures belong to: what was refused to it may be granted to another one. */
  #failedAs: BankIdentity | null = null;

  constructor(
    private readonly cached: CachedSnapshot,
    private readonly source: SnapshotSource,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly activity: Activity,
    private readonly identities: IdentityHolder,
  ) {
    this.#backOff = new BackOff(clock);
  }

  /** True if other instances may have stored a newer copy. */
  get isShared(): boolean {
    return this.source.isShared;
  }

  /** The state now; it changes as time passes, so that a decision reads it once. */
  state(): RefreshState {
    const identity = this.identities.current;
    const isOfAnother = this.#failedAs !== null && this.#failedAs !== identity;
    const trouble = isOfAnother ? null : this.#backOff.trouble();
    const refusal = identity.tokens.failureNow() ?? (trouble?.circuit === 'open' ? trouble.error : null);
    const last = isOfAnother && this.#last === 'failed' ? null : this.#last;
    return { running: this.#running, trouble, refusal, last };
  }

  /** Ends the back-off: the next caller starts a refresh. */
  resetBackOff(): void {
    this.#backOff.reset();
  }

  /** Takes the stored copy of an earlier run, or of another instance. */
  async onModuleInit(): Promise<void> {
    await this.#restore();
  }

  /** Starts a refresh; there must be none in flight. */
  start(wanted: Freshness): Refresh {
    const id = randomUUID();
    const startedAt = this.clock.now();
    const waiting = new Waiting();
    const result = inRefreshSpan(id, waiting, () => this.#refresh(id, wanted), toAttributes).finally(() => {
      this.#running = null;
    });
    // its failure is handled here; every caller may have left
    result.catch(() => undefined);
    this.#running = { id, startedAt, result, waiting };
    return this.#running;
  }

  /** Ends the refresh in flight, so that its lock can be released, and then what keeps the cached list. */
  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
    await this.#running?.result.catch(() => undefined);
    await this.source.close();
    await this.cached.end();
  }

  async #refresh(refreshId: string, wanted: Freshness): Promise<Snapshot> {
    const identity = this.identities.current;
    const accepts: RefreshRequest['accepts'] = (copy) => acceptsCopy(wanted, copy, this.settings);
    const { refusal } = this.state();
    const started = performance.now();
    try {
      if (refusal) return await this.#takeShared(accepts, refusal, refreshId);
      const read = await this.source.read({ refreshId, signal: this.#stop.signal, accepts });
      // another instance counts its own refresh
      if (read.source === 'bank') this.#emitEnded(started, null);
      return this.#succeeded(read, refreshId);
    } catch (thrown) {
      const error = toGatewayError(thrown);
      if (error.code === 'stopping') throw error;
      if (this.#failedAs !== identity) this.#backOff.succeeded();
      this.#failedAs = identity;
      this.#last = 'failed';
      if (!refusal) this.#emitEnded(started, error);
      const failure = refusal ?? this.#toFailure(error, refreshId);
      if (failure.code !== 'access-not-granted' && !this.cached.servable) await this.#restore();
      throw failure;
    }
  }

  /** Takes the copy of another instance while the bank is not asked. @throws GatewayError the refusal, without a copy */
  async #takeShared(accepts: RefreshRequest['accepts'], refusal: GatewayError, refreshId: string): Promise<Snapshot> {
    const copy = await this.source.take(accepts);
    if (!copy) throw refusal;
    return this.#succeeded(copy, refreshId);
  }

  /** Takes the stored copy, if it may be served. It is stale until a refresh, unless another instance has just stored it. */
  async #restore(): Promise<void> {
    const copy = await this.source.take(({ leadMs }) => leadMs <= this.settings.SNAPSHOT_MAX_AGE_MS);
    if (!copy) return;
    const isCurrent = copy.source === 'shared' && this.clock.since(copy.snapshot.askedAt) <= toFreshMs(this.settings);
    if (this.#cache(copy) && !isCurrent) this.cached.markRestored();
  }

  #emitEnded(started: number, error: GatewayError | null): void {
    const replacedAgeMs = this.cached.servable && this.cached.ageMs;
    this.activity.emit('refreshEnded', { ms: performance.now() - started, error, replacedAgeMs });
  }

  /** Returns the snapshot that is cached now, which may be a newer one. */
  #succeeded(read: ReadSnapshot, refreshId: string): Snapshot {
    this.#last = read.source === 'bank' ? 'bank' : 'shared';
    // a copy of another instance says nothing about our own calls
    if (read.source === 'bank') this.#backOff.succeeded();
    this.#cache(read, refreshId);
    return this.cached.snapshot ?? read.snapshot;
  }

  /** Puts a snapshot into the cache, and logs it. Returns false if the cached one is newer. */
  #cache({ snapshot, pages, source }: ReadSnapshot, refreshId?: string): boolean {
    this.activity.emit('snapshotTaken', { source });
    const wasEmptied = this.cached.isEmptied;
    if (!this.cached.replace(snapshot)) return false;
    this.#watch(snapshot, refreshId);
    const { logger } = this.log;
    const { complete, durationMs, size: accounts } = snapshot;
    const fields = { refreshId, accounts, pages, complete, ms: Math.round(durationMs), source };
    logger.info({ event: 'snapshot.refreshed', ...fields }, 'accounts refreshed');
    if (complete === false) {
      const message = 'the list changed during both passes; accounts may be missing or duplicated';
      logger.warn({ event: 'snapshot.incomplete', ...fields }, message);
    }
    if (this.cached.isEmptied && !wasEmptied) {
      const code = 'accounts-emptied';
      const { owner } = PROBLEMS[code];
      logger.warn({ event: 'snapshot.emptied', code, owner, ...fields }, 'the bank no longer lists any accounts');
    }
    return true;
  }

  /** Logs that the thread of the cached list has ended by itself. The next call refreshes. */
  #watch({ list }: Snapshot, refreshId?: string): void {
    void list.lost.then((error) => {
      const { code, owner, detail } = error;
      const fields = { event: 'snapshot.failed', refreshId, code, owner, detail, err: error };
      this.log.logger.error(fields, 'the thread of the cached accounts has ended');
    });
  }

  /** Returns the error with the time until the next attempt. */
  #toFailure(error: GatewayError, refreshId: string): GatewayError {
    // the token provider has its own back-off
    if (error instanceof NoToken) return error;
    const { code, owner, detail, needsSomeone } = error;
    if (code === 'access-not-granted') this.cached.drop();
    const waiting = this.#backOff.failed(error);
    const retryInMs = Math.round(waiting.retryAfterMs ?? 0);
    const fields = { event: 'snapshot.failed', refreshId, code, owner, detail, retryInMs };
    const stack = code === 'internal-error' && { err: error };
    this.log.logger[needsSomeone ? 'error' : 'warn']({ ...fields, ...stack }, 'the accounts could not be refreshed');
    return waiting;
  }
}

const toAttributes = ({ size, complete }: Snapshot) => ({
  'accounts_gateway.accounts': size,
  ...(complete !== null && { 'accounts_gateway.complete': complete }),
});
