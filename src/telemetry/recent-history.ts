import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Activity, type BankCallEnded, type RequestEnded } from './activity.js';
import { Clock } from '../time/clock.js';
import { SnapshotCache } from '../snapshot/snapshot-cache.js';
import type { RecentPoint } from './recent-schema.js';

export const EVERY_SECONDS = 10;
/** The last hour. */
const MAX_POINTS = 360;

/** The last hour in points of 10 s (docs/health-and-metrics.md#the-last-hour). */
@Injectable()
export class RecentHistory implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #points: RecentPoint[] = [];
  readonly #latencies = createLatencies();
  readonly #bankLatencies = createLatencies();
  #requests = 0;
  #errors = 0;
  #bankCalls = 0;
  #bankFailures = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    activity: Activity,
    private readonly snapshots: SnapshotCache,
    private readonly clock: Clock,
  ) {
    activity.on('requestEnded', (request) => this.#onRequest(request));
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
  }

  /** Oldest first; excludes the activity since the last point. */
  get points(): readonly RecentPoint[] {
    return this.#points;
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.endPoint(), EVERY_SECONDS * 1000).unref();
  }

  onModuleDestroy(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Adds a point for the activity since the last one; called every 10 s. */
  endPoint(): void {
    const { ageMs, stale } = this.snapshots.status();
    this.#points.push({
      at: new Date(this.clock.now().wall).toISOString(),
      requests: this.#requests,
      errors: this.#errors,
      p50Ms: toMs(this.#latencies, 50),
      p99Ms: toMs(this.#latencies, 99),
      bankCalls: this.#bankCalls,
      bankFailures: this.#bankFailures,
      bankP50Ms: toMs(this.#bankLatencies, 50),
      snapshotAgeSeconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1000)),
      stale,
    });
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.#requests = 0;
    this.#errors = 0;
    this.#bankCalls = 0;
    this.#bankFailures = 0;
    this.#latencies.reset();
    this.#bankLatencies.reset();
  }

  #onRequest({ route, status, ms }: RequestEnded): void {
    if (!route?.startsWith('/api/v1/')) return;
    this.#requests += 1;
    if (status >= 500) this.#errors += 1;
    this.#latencies.record(toMicros(ms));
  }

  #onBankCall({ ms, code }: BankCallEnded): void {
    this.#bankCalls += 1;
    if (code !== null) this.#bankFailures += 1;
    this.#bankLatencies.record(toMicros(ms));
  }
}

/** Histogram of microseconds, within 1 %. */
const createLatencies = (): RecordableHistogram => createHistogram({ figures: 2 });

/** The histogram accepts whole numbers from 1. */
const toMicros = (ms: number): number => Math.max(1, Math.round(ms * 1000));

/** Percentile of durations, ms; null without any. */
const toMs = (latencies: RecordableHistogram, percent: number): number | null =>
  latencies.count === 0 ? null : Math.round(latencies.percentile(percent) / 10) / 100;
