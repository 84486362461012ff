import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { NoToken } from '../auth/authorized-call.js';
import type { BankCondition } from '../auth/bank-condition.js';
import type { Settings } from '../config/settings.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { Activity } from '../telemetry/activity.js';
import { inRefreshSpan, Waiting } from '../telemetry/spans.js';
import { BackOff } from '../time/back-off.js';
import type { Clock, Instant } from '../time/clock.js';
import type { CachedSnapshot } from './cached-snapshot.js';
import { RefreshLog } from './refresh-log.js';
import type { Snapshot } from './snapshot.js';
import type { Acceptable, ReadAccounts, ReadSnapshot } from './snapshot-reader.js';

export interface Refresh {
  readonly id: string;
  readonly startedAt: Instant;
  readonly result: Promise<Snapshot>;
  /** The requests that wait for it. */
  readonly waiting: Waiting;
}

export interface RefresherParts {
  readonly reader: { readonly read: ReadAccounts };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
  readonly condition: BankCondition;
  readonly settings: Pick<Settings, 'SNAPSHOT_READ_TIMEOUT_MS'>;
}

/** Refreshes the cached snapshot: one refresh in flight, bounded in time, with a back-off after failures. */
export class Refresher {
  readonly #parts: RefresherParts;
  readonly #cached: CachedSnapshot;
  readonly #log: RefreshLog;
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  #inFlight: Refresh | null = null;
  #failure: GatewayError | null = null;
  /** The identity that failed. */
  #failedAs = 0;

  constructor(parts: RefresherParts, cached: CachedSnapshot) {
    this.#parts = parts;
    this.#cached = cached;
    this.#log = new RefreshLog(parts.logger, cached);
    this.#backOff = new BackOff(parts.clock);
  }

  get inFlight(): Refresh | null {
    return this.#inFlight;
  }

  /** The failure of the last refresh; null when it succeeded. */
  get failure(): GatewayError | null {
    return this.#failure;
  }

  /** The back-off, which a new identity ends: what was refused to the old one may be granted to it. */
  get backOff(): BackOff {
    if (this.#failedAs !== this.#parts.condition.identity) this.#backOff.resetBackOff();
    return this.#backOff;
  }

  /** Starts a refresh; there must be none in flight. @throws GatewayError the last failure, during the back-off */
  start(acceptable: Acceptable): Refresh {
    const { waiting: failure } = this.backOff;
    if (failure) throw failure;
    const id = randomUUID();
    const startedAt = this.#parts.clock.now();
    const waiting = new Waiting();
    const result = inRefreshSpan(id, waiting, () => this.#refresh(id, acceptable), toAttributes).finally(() => {
      this.#inFlight = null;
    });
    // its failure is handled here; every caller may have left
    result.catch(() => undefined);
    this.#inFlight = { id, startedAt, result, waiting };
    return this.#inFlight;
  }

  /** Takes a copy of an earlier run. */
  restore(earlier: Snapshot): void {
    if (this.#cached.restore(earlier)) this.#log.restored(earlier);
  }

  /** Logs once that the cached snapshot is no longer served because refreshes fail. */
  noteExpiry(): void {
    if (this.#failure) this.#log.expired(this.#failure);
  }

  stop(): void {
    this.#stop.abort(new GatewayError('stopping', 'This instance is stopping.'));
  }

  async #refresh(id: string, acceptable: Acceptable): Promise<Snapshot> {
    const { reader, settings, activity } = this.#parts;
    const { SNAPSHOT_READ_TIMEOUT_MS: readTimeoutMs } = settings;
    const started = performance.now();
    const timeout = AbortSignal.timeout(readTimeoutMs);
    try {
      const read = await reader.read(id, AbortSignal.any([timeout, this.#stop.signal]), acceptable);
      // another instance counts its own refresh
      if (read.source !== 'shared') activity.emit('refreshEnded', { ms: performance.now() - started, code: null });
      return this.#succeeded(read, id);
    } catch (thrown) {
      const error = timeout.aborted ? tooSlow(readTimeoutMs) : toGatewayError(thrown);
      if (error.code === 'stopping') throw error;
      activity.emit('refreshEnded', { ms: performance.now() - started, code: error.code });
      throw this.#failed(error, id);
    }
  }

  #succeeded(read: ReadSnapshot, id: string): Snapshot {
    this.#failure = null;
    this.#backOff.succeeded();
    this.#parts.condition.succeeded('refresh');
    const wasEmptied = this.#cached.isEmptied;
    const cached = this.#cached.replace(read.snapshot);
    if (cached === read.snapshot) this.#log.refreshed(read, id, wasEmptied);
    return cached;
  }

  /** Returns the error with the time until the next attempt. */
  #failed(error: GatewayError, id: string): GatewayError {
    this.#failure = error;
    // the token provider has its own back-off
    if (error instanceof NoToken) return error;
    if (error.code === 'access-not-granted') this.#cached.drop();
    const waiting = this.#backOff.failed(error);
    this.#failedAs = this.#parts.condition.identity;
    this.#parts.condition.failed('refresh', error);
    this.#log.failed(error, waiting.retryAfterMs ?? 0, id);
    return waiting;
  }
}

const toAttributes = ({ size, complete }: Snapshot) => ({
  'accounts_gateway.accounts': size,
  ...(complete !== null && { 'accounts_gateway.complete': complete }),
});

const tooSlow = (ms: number) =>
  new GatewayError('bank-timeout', `The bank sent no complete list within ${ms} ms (SNAPSHOT_READ_TIMEOUT_MS).`);
