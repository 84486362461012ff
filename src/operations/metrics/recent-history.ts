import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Activity } from '../../telemetry/activity.js';
import { GatewayStatus } from '../status/gateway-status.js';
import { CallTally } from './call-tally.js';
import type { RecentPoint } from './recent-schema.js';

export const EVERY_SECONDS = 10;
/** The last hour. */
const MAX_POINTS = 360;

/** The last hour in points of 10 s (docs/logs.md#the-last-hour). */
@Injectable()
export class RecentHistory implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #points: RecentPoint[] = [];
  /** The calls of apps since the last point. */
  calls = new CallTally();
  #bankCalls = new CallTally();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    activity: Activity,
    private readonly status: GatewayStatus,
  ) {
    activity.on('bankCallEnded', ({ ms, code }) =>
      this.#bankCalls.record({ ms, got: code === null ? 'current' : 'errors' }),
    );
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

  /** The activity since the last point. */
  get present(): RecentPoint {
    const { at, snapshot } = this.status.read();
    const { ageMs } = snapshot;
    const { calls } = this;
    const bankCalls = this.#bankCalls;
    return {
      at: new Date(at).toISOString(),
      requests: calls.requests,
      current: calls.current,
      stale: calls.stale,
      errors: calls.errors,
      failuresByOwner: { ...calls.failuresByOwner },
      p50Ms: calls.percentileMs(50),
      p99Ms: calls.percentileMs(99),
      bankCalls: bankCalls.requests,
      bankFailures: bankCalls.errors,
      bankP50Ms: bankCalls.percentileMs(50),
      snapshotAgeSeconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1000)),
    };
  }

  /** Adds a point for the activity since the last one; called every 10 s. */
  endPoint(): void {
    this.#points.push(this.present);
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.calls = new CallTally();
    this.#bankCalls = new CallTally();
  }
}
