import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Activity, type BankCallEnded } from '../../telemetry/activity.js';
import type { Owner } from '../../errors/problem-table.js';
import { GatewayStatus } from '../health/gateway-status.js';
import type { RecentCall } from './recent-call.js';
import type { RecentPoint } from './recent-schema.js';

export const EVERY_SECONDS = 10;
/** The last hour. */
const MAX_POINTS = 360;

/** The last hour in points of 10 s (docs/logs.md#the-last-hour). */
@Injectable()
export class RecentHistory implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #points: RecentPoint[] = [];
  #present = startInterval();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    activity: Activity,
    private readonly status: GatewayStatus,
  ) {
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
    const { at, snapshot } = this.status.read();
    const { ageMs } = snapshot;
    const { latencies, current, stale, errors, failuresByOwner, bankLatencies, bankFailures } = this.#present;
    this.#points.push({
      at: new Date(at).toISOString(),
      requests: latencies.count,
      current,
      stale,
      errors,
      failuresByOwner,
      p50Ms: toMs(latencies, 50),
      p99Ms: toMs(latencies, 99),
      bankCalls: bankLatencies.count,
      bankFailures,
      bankP50Ms: toMs(bankLatencies, 50),
      snapshotAgeSeconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1000)),
    });
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.#present = startInterval();
  }

  /** Counts a call of an app. */
  record({ ms, got, owner }: RecentCall): void {
    if (owner) this.#present.failuresByOwner[owner] = (this.#present.failuresByOwner[owner] ?? 0) + 1;
    if (got !== 'other') this.#present[got] += 1;
    this.#present.latencies.record(toMicros(ms));
  }

  #onBankCall({ ms, code }: BankCallEnded): void {
    if (code !== null) this.#present.bankFailures += 1;
    this.#present.bankLatencies.record(toMicros(ms));
  }
}

/** The activity since the last point. Histograms record microseconds, within 1 %. */
const startInterval = () => ({
  latencies: createHistogram({ figures: 2 }),
  current: 0,
  stale: 0,
  errors: 0,
  failuresByOwner: {} as Partial<Record<Owner, number>>,
  bankLatencies: createHistogram({ figures: 2 }),
  bankFailures: 0,
});

/** The histogram accepts whole numbers from 1. */
const toMicros = (ms: number): number => Math.max(1, Math.round(ms * 1000));

/** Percentile of durations, ms; null without any. */
const toMs = (latencies: RecordableHistogram, percent: number): number | null =>
  latencies.count === 0 ? null : Math.round(latencies.percentile(percent) / 10) / 100;
