import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { AnyCode, Owner } from '../../errors/problem-table.js';
import { Activity } from '../../telemetry/activity.js';
import { Log } from '../../telemetry/log.js';
import { Clock } from '../../time/clock.js';
import { GatewayStatus } from '../status/gateway-status.js';
import { Callers } from './callers.js';
import { CallTally } from './call-tally.js';
import type { RecentEvent, RecentPoint } from './recent-schema.js';

export const EVERY_SECONDS = 10;
const MAX_POINTS = 360;

/** The last hour in points of 10 s (docs/logs.md#the-last-hour). */
@Injectable()
export class RecentHistory implements OnApplicationBootstrap, OnModuleDestroy {
  /** Oldest first; excludes the activity since the last point. */
  readonly points: RecentPoint[] = [];
  /** Calls by apps since the last point. */
  calls = new CallTally();
  #bankCalls = new CallTally();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    activity: Activity,
    private readonly status: GatewayStatus,
    private readonly callers: Callers,
  ) {
    activity.on('bankCallEnded', ({ ms, code }) =>
      this.#bankCalls.record({ ms, got: code === null ? 'current' : 'errors' }),
    );
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.endPoint(), EVERY_SECONDS * 1000).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  get present(): RecentPoint {
    const { at, snapshot } = this.status.read();
    const { ageMs } = snapshot;
    const { requests, current, stale, errors, failuresByOwner } = this.calls;
    return {
      at: new Date(at).toISOString(),
      requests,
      current,
      stale,
      errors,
      failuresByOwner,
      p50Ms: this.calls.percentileMs(50),
      p99Ms: this.calls.percentileMs(99),
      bankCalls: this.#bankCalls.requests,
      bankFailures: this.#bankCalls.errors,
      bankP50Ms: this.#bankCalls.percentileMs(50),
      snapshotAgeSeconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1000)),
    };
  }

  endPoint(): void {
    this.points.push(this.present);
    if (this.points.length > MAX_POINTS) this.points.shift();
    this.calls = new CallTally();
    this.#bankCalls = new CallTally();
    this.callers.endPoint();
  }
}

const MAX_EVENTS = 200;

/** Events of normal operation. They are not kept, because they would push out the others. */
const COMMON = new Set(['bank.call', 'request', 'snapshot.refreshed', 'token.acquired']);

/** The last notable log events (docs/logs.md#the-last-hour), without most of their fields. */
@Injectable()
export class RecentEvents {
  /** Oldest first. */
  readonly events: RecentEvent[] = [];

  constructor(log: Log, clock: Clock) {
    log.listen((level, { event, code, owner }, msg) => {
      if (typeof event !== 'string' || COMMON.has(event)) return;
      this.events.push({
        at: new Date(clock.now().wall).toISOString(),
        level: level as RecentEvent['level'],
        event,
        ...(code !== undefined && { code: code as AnyCode, owner: owner as Owner }),
        msg: String(msg),
      });
      if (this.events.length > MAX_EVENTS) this.events.shift();
    });
  }
}
