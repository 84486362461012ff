import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AuthorizedCall, NoToken } from '../auth/authorized-call.js';
import { Settings } from '../config/settings.js';
import { Log } from '../telemetry/log.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { PROBLEMS } from '../errors/problem-table.js';
import { Activity } from '../telemetry/activity.js';
import { inRefreshSpan, Waiting } from '../telemetry/spans.js';
import { BackOff } from '../time/back-off.js';
import { Clock, type Instant } from '../time/clock.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { acceptsCopy, type Freshness, type FreshnessLimits } from './freshness.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import { SnapshotSource, type ReadSnapshot, type RefreshRequest } from '../snapshot/snapshot-source.js';

export interface Refresh {
  readonly id: string;
  readonly startedAt: Instant;
  readonly result: Promise<Snapshot>;
  /** The requests that wait for it. */
  readonly waiting: Waiting;
}

/** Refreshes the cached snapshot: one refresh in flight, bounded in time, with a back-off after failures. */
@Injectable()
export class Refresher implements OnModuleInit, OnApplicationShutdown {
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  #inFlight: Refresh | null = null;
  #failed = false;
  #isOfOtherInstance = false;
  /** True if another identity took over after the refresh in flight, or the last one, had begun. */
  #isOfOldIdentity = false;

  constructor(
    private readonly cached: CachedSnapshot,
    private readonly source: SnapshotSource,
    @Inject(Settings) private readonly limits: FreshnessLimits,
    private readonly clock: Clock,
    @Inject(Log) private readonly log: Pick<Log, 'logger'>,
    private readonly activity: Activity,
    @Inject(AuthorizedCall) private readonly call: Pick<AuthorizedCall, 'currentFailure'>,
  ) {
    this.#backOff = new BackOff(clock);
    activity.on('identityReplaced', () => this.#onIdentityReplaced());
  }

  get inFlight(): Refresh | null {
    return this.#inFlight;
  }

  /** True if the last refresh failed, or the next one would at once. */
  get failed(): boolean {
    return this.#failed || this.refusal !== null;
  }

  /** True if the last refresh took the copy of another instance: the bank may fail for this one. */
  get isOfOtherInstance(): boolean {
    return this.#isOfOtherInstance;
  }

  /** The error during a back-off of the list or of the token: the bank is not asked. */
  get currentFailure(): GatewayError | null {
    return this.call.currentFailure ?? this.#backOff.currentFailure;
  }

  /** The error with which the next refresh would fail at once; null where another instance may have a copy. */
  get refusal(): GatewayError | null {
    return this.source.isShared ? null : this.currentFailure;
  }

  /** The back-off after failures, which is also the circuit breaker. */
  get backOff(): Pick<BackOff, 'circuit' | 'lastError' | 'status'> {
    return this.#backOff;
  }

  /** Ends the back-off: the next caller starts a refresh. */
  resetBackOff(): void {
    this.#backOff.reset();
  }

  /** Takes the copy of an earlier run. */
  async onModuleInit(): Promise<void> {
    const earlier = await this.source.restore();
    if (!earlier) return;
    this.activity.emit('snapshotTaken', { source: 'file' });
    this.cached.restore(earlier);
    this.#watch(earlier);
  }

  /** Starts a refresh; there must be none in flight. */
  start(wanted: Freshness): Refresh {
    this.#isOfOldIdentity = false;
    const id = randomUUID();
    const startedAt = this.clock.now();
    const waiting = new Waiting();
    const result = inRefreshSpan(id, waiting, () => this.#refresh(id, wanted), toAttributes).finally(() => {
      this.#inFlight = null;
    });
    // its failure is handled here; every caller may have left
    result.catch(() => undefined);
    this.#inFlight = { id, startedAt, result, waiting };
    return this.#inFlight;
  }

  /** Ends the refresh in flight, so that its lock can be released, and then what keeps the cached list. */
  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
    await this.#inFlight?.result.catch(() => undefined);
    await this.source.close();
    await this.cached.end();
  }

  /** What was refused to the old identity may be granted to the new one, also by a refresh that fails only later. */
  #onIdentityReplaced(): void {
    this.#isOfOldIdentity = true;
    this.#failed = false;
    this.#backOff.reset();
  }

  async #refresh(id: string, wanted: Freshness): Promise<Snapshot> {
    const request: RefreshRequest = {
      refreshId: id,
      signal: this.#stop.signal,
      accepts: (copy) => acceptsCopy(wanted, copy, this.limits),
    };
    const { currentFailure } = this;
    if (currentFailure) return this.#takeShared(request, currentFailure);
    const started = performance.now();
    try {
      const read = await this.source.read(request);
      // another instance counts its own refresh
      if (read.source === 'bank') this.#emitEnded(started, null);
      return this.#succeeded(read, id);
    } catch (thrown) {
      const error = toGatewayError(thrown);
      if (error.code === 'stopping') throw error;
      this.#emitEnded(started, error);
      throw this.#toFailure(error, id);
    }
  }

  #emitEnded(started: number, error: GatewayError | null): void {
    const replacedAgeMs = this.cached.servable && this.cached.ageMs;
    this.activity.emit('refreshEnded', { ms: performance.now() - started, error, replacedAgeMs });
  }

  /** Takes the copy of another instance while the bank is not asked. @throws GatewayError the failure, without a copy */
  async #takeShared(request: RefreshRequest, failure: GatewayError): Promise<Snapshot> {
    const read = await this.source.readShared(request);
    if (read) return this.#succeeded(read, request.refreshId);
    this.#noteFailure();
    throw failure;
  }

  /** Returns the snapshot that is cached now, which may be a newer one. */
  #succeeded({ snapshot, pages, source }: ReadSnapshot, refreshId: string): Snapshot {
    this.activity.emit('snapshotTaken', { source });
    this.#failed = false;
    this.#isOfOtherInstance = source === 'shared';
    // a copy of another instance says nothing about our own calls
    if (source === 'bank') {
      this.#backOff.succeeded();
    }
    const wasEmptied = this.cached.isEmptied;
    const cached = this.cached.replace(snapshot);
    if (cached !== snapshot) return cached;
    this.#watch(snapshot, refreshId);
    const { logger } = this.log;
    const { complete, durationMs, size: accounts } = snapshot;
    const fields = { refreshId, accounts, pages, complete, ms: Math.round(durationMs), source };
    logger.info({ event: 'snapshot.refreshed', ...fields }, 'accounts refreshed');
    if (complete === false) {
      const message = 'the list changed during both reads; it may lack or repeat accounts';
      logger.warn({ event: 'snapshot.incomplete', ...fields }, message);
    }
    if (this.cached.isEmptied && !wasEmptied) {
      const code = 'accounts-emptied';
      const { owner } = PROBLEMS[code];
      logger.warn({ event: 'snapshot.emptied', code, owner, ...fields }, 'the bank no longer lists any accounts');
    }
    return cached;
  }

  /** Logs that the thread of the cached list has ended by itself. The next call refreshes. */
  #watch({ list }: Snapshot, refreshId?: string): void {
    void list.lost.then((error) => {
      const { code, owner, detail } = error;
      const fields = { event: 'snapshot.failed', refreshId, code, owner, detail, err: error };
      this.log.logger.error(fields, 'the thread of the cached accounts has ended');
    });
  }

  #noteFailure(): void {
    this.#failed = true;
    this.#isOfOtherInstance = false;
  }

  /** Returns the error with the time until the next attempt. */
  #toFailure(error: GatewayError, refreshId: string): GatewayError {
    this.#noteFailure();
    // the token provider has its own back-off
    if (error instanceof NoToken) return error;
    const { code, owner, detail, needsSomeone } = error;
    if (code === 'access-not-granted') this.cached.drop();
    const waiting = this.#backOff.failed(error);
    if (this.#isOfOldIdentity) this.#backOff.reset();
    const retryInMs = Math.round(waiting.retryAfterMs ?? 0);
    const fields = { event: 'snapshot.failed', refreshId, code, owner, detail, retryInMs };
    const place = code === 'internal-error' && { err: error };
    this.log.logger[needsSomeone ? 'error' : 'warn']({ ...fields, ...place }, 'the accounts could not be refreshed');
    return waiting;
  }
}

const toAttributes = ({ size, complete }: Snapshot) => ({
  'accounts_gateway.accounts': size,
  ...(complete !== null && { 'accounts_gateway.complete': complete }),
});
