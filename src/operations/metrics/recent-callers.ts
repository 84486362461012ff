import { Injectable } from '@nestjs/common';
import { Activity } from '../../telemetry/activity.js';
import { Clock } from '../../time/clock.js';
import { ClientNames } from './client-names.js';
import { LastMinute } from './last-minute.js';
import { toRecentCall, type RecentCall } from './recent-call.js';
import type { RecentClient } from './recent-schema.js';

/** A caller that was silent for longer is no longer listed, ms. */
const FORGET_AFTER_MS = 3_600_000;

interface Caller {
  readonly lastMinute: LastMinute;
  /** Time of the last call, ms since 1970. */
  lastAt: number;
  /** The same by the monotonic clock. */
  lastSeen: number;
}

/** What each caller got in the last minute, by name (docs/health-and-metrics.md#the-last-hour): at most 50 names, `other` and `none`. */
@Injectable()
export class RecentCallers {
  readonly #callers = new Map<string, Caller>();

  constructor(
    activity: Activity,
    private readonly clock: Clock,
    names: ClientNames,
  ) {
    activity.on('requestEnded', (request) => {
      const call = toRecentCall(request);
      if (call) this.#record(names.of(request), call);
    });
  }

  /** The callers of the last hour, the busiest of the last minute first. */
  get clients(): RecentClient[] {
    const { monotonic: now } = this.clock.now();
    const clients: RecentClient[] = [];
    for (const [name, { lastMinute, lastAt, lastSeen }] of this.#callers) {
      if (now - lastSeen > FORGET_AFTER_MS) continue;
      const { requests, ...got } = lastMinute.read(now);
      clients.push({ name, callsPerMinute: requests, ...got, lastAt: new Date(lastAt).toISOString() });
    }
    return clients.toSorted((a, b) => b.callsPerMinute - a.callsPerMinute || a.name.localeCompare(b.name));
  }

  #record(name: string, call: RecentCall): void {
    const { wall, monotonic } = this.clock.now();
    const caller = this.#callers.get(name) ?? { lastMinute: new LastMinute(), lastAt: wall, lastSeen: monotonic };
    caller.lastAt = wall;
    caller.lastSeen = monotonic;
    caller.lastMinute.record(monotonic, call);
    this.#callers.set(name, caller);
  }
}
