import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Activity, type BankCallEnded, type RequestEnded } from '../activity.js';
import { Clock } from '../clock.js';
import { SnapshotKeeper } from '../snapshot/snapshot-keeper.js';
import { Latencies } from './latencies.js';
import type { RecentPoint } from './recent-schema.js';

export const EVERY_SECONDS = 10;
/** The last hour. */
const MAX_POINTS = 360;

/** How the last hour went, in points of 10 s (docs/monitoring.md#the-last-hour). */
@Injectable()
export class RecentFigures implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #points: RecentPoint[] = [];
  readonly #latencies = new Latencies();
  readonly #bankLatencies = new Latencies();
  #requests = 0;
  #errors = 0;
  #bankCalls = 0;
  #bankFailures = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly activity: Activity,
    private readonly keeper: SnapshotKeeper,
    private readonly clock: Clock,
  ) {
    activity.on('requestsEnded', (requests) => {
      for (const request of requests) this.#onRequest(request);
    });
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
  }

  /** The oldest first; without what has happened since the last one. */
  get points(): readonly RecentPoint[] {
    return this.#points;
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.endPoint(), EVERY_SECONDS * 1000).unref();
  }

  onModuleDestroy(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Makes a point of what has happened since the last one; called every 10 s. */
  endPoint(): void {
    this.activity.flush();
    const { ageMs, stale } = this.keeper.status();
    this.#points.push({
      at: new Date(this.clock.now().wall).toISOString(),
      requests: this.#requests,
      errors: this.#errors,
      p50Ms: this.#latencies.quantile(0.5),
      p99Ms: this.#latencies.quantile(0.99),
      bankCalls: this.#bankCalls,
      bankFailures: this.#bankFailures,
      bankP50Ms: this.#bankLatencies.quantile(0.5),
      snapshotAgeSeconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1000)),
      stale,
    });
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.#requests = 0;
    this.#errors = 0;
    this.#bankCalls = 0;
    this.#bankFailures = 0;
    this.#latencies.clear();
    this.#bankLatencies.clear();
  }

  #onRequest({ route, status, ms, fields }: RequestEnded): void {
    if (!route?.startsWith('/api/v1/')) return;
    this.#requests += 1;
    if (status >= 500) this.#errors += 1;
    if (fields.stream !== true) this.#latencies.add(ms);
  }

  #onBankCall({ ms, code }: BankCallEnded): void {
    this.#bankCalls += 1;
    if (code !== null) this.#bankFailures += 1;
    this.#bankLatencies.add(ms);
  }
}
