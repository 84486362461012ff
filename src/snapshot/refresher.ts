import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { NoToken } from '../auth/authorized-call.js';
import { BankCondition } from '../auth/bank-condition.js';
import { Settings } from '../config/settings.js';
import { Log } from '../telemetry/log.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { PROBLEMS } from '../errors/problem-table.js';
import type { SharedSnapshots } from '../sharing/shared-snapshots.js';
import { SHARED_SNAPSHOTS } from '../sharing/sharing.module.js';
import { Activity } from '../telemetry/activity.js';
import { inRefreshSpan, Waiting } from '../telemetry/spans.js';
import { BackOff } from '../time/back-off.js';
import { Clock, type Instant } from '../time/clock.js';
import { CachedSnapshot } from './cached-snapshot.js';
import type { Freshness } from './freshness.js';
import type { Snapshot } from '../list/snapshot.js';
import { SnapshotReader, type ReadSnapshot } from '../list/snapshot-reader.js';

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
  /** The identity that the last refresh began with. */
  #askedAs = 0;

  constructor(
    private readonly cached: CachedSnapshot,
    @Inject(SnapshotReader) private readonly reader: Pick<SnapshotReader, 'read'>,
    @Inject(SHARED_SNAPSHOTS) private readonly shared: Pick<SharedSnapshots, 'read' | 'restore'> | null,
    @Inject(Settings) private readonly settings: Pick<Settings, 'SNAPSHOT_READ_TIMEOUT_MS'>,
    private readonly clock: Clock,
    @Inject(Log) private readonly log: Pick<Log, 'logger'>,
    private readonly activity: Activity,
    private readonly condition: BankCondition,
  ) {
    this.#backOff = new BackOff(clock);
  }

  get inFlight(): Refresh | null {
    return this.#inFlight;
  }

  /** True if the last refresh failed. */
  get failed(): boolean {
    return this.#failed;
  }

  /** The back-off, which a new identity ends: what was refused to the old one may be granted to it. */
  get backOff(): BackOff {
    if (this.#askedAs !== this.condition.identity) this.#backOff.resetBackOff();
    return this.#backOff;
  }

  /** Takes the copy of an earlier run. */
  async onModuleInit(): Promise<void> {
    const earlier = await this.shared?.restore();
    if (earlier) this.cached.restore(earlier);
  }

  /** Starts a refresh; there must be none in flight. @throws GatewayError the last failure, during the back-off */
  start(wanted: Freshness): Refresh {
    const { waiting: failure } = this.backOff;
    if (failure) throw failure;
    this.#askedAs = this.condition.identity;
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

  /** Ends the refresh in flight, so that its lock can be released. */
  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
    await this.#inFlight?.result.catch(() => undefined);
  }

  async #refresh(id: string, wanted: Freshness): Promise<Snapshot> {
    const { SNAPSHOT_READ_TIMEOUT_MS: readTimeoutMs } = this.settings;
    const started = performance.now();
    const timeout = AbortSignal.timeout(readTimeoutMs);
    const signal = AbortSignal.any([timeout, this.#stop.signal]);
    try {
      const read = await (this.shared?.read(this.reader, id, signal, wanted) ?? this.reader.read(id, signal));
      // another instance counts its own refresh
      if (read.source !== 'shared') this.activity.emit('refreshEnded', { ms: performance.now() - started, code: null });
      return this.#succeeded(read, id);
    } catch (thrown) {
      const error = timeout.aborted ? tooSlow(readTimeoutMs) : toGatewayError(thrown);
      if (error.code === 'stopping') throw error;
      this.activity.emit('refreshEnded', { ms: performance.now() - started, code: error.code });
      throw this.#toFailure(error, id);
    }
  }

  /** Returns the snapshot that is cached now, which may be a newer one. */
  #succeeded({ snapshot, pages, source = 'bank' }: ReadSnapshot, refreshId: string): Snapshot {
    this.#failed = false;
    this.#backOff.succeeded();
    this.condition.succeeded('refresh');
    const wasEmptied = this.cached.isEmptied;
    const cached = this.cached.replace(snapshot);
    if (cached !== snapshot) return cached;
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

  /** Returns the error with the time until the next attempt. */
  #toFailure(error: GatewayError, refreshId: string): GatewayError {
    this.#failed = true;
    // the token provider has its own back-off
    if (error instanceof NoToken) return error;
    const { code, owner, detail, needsSomeone } = error;
    if (code === 'access-not-granted') this.cached.drop();
    const waiting = this.#backOff.failed(error);
    this.condition.failed('refresh', error);
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

const tooSlow = (ms: number) =>
  new GatewayError('bank-timeout', `The bank sent no complete list within ${ms} ms (SNAPSHOT_READ_TIMEOUT_MS).`);
