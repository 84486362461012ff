import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { hasManyDigits } from '../../errors/many-digits.js';
import type { RequestEnded } from '../../telemetry/activity.js';
import { Clock } from '../../time/clock.js';
import { CallTally, type RecentCall } from './call-tally.js';
import type { RecentClient } from './recent-schema.js';

const MAX_NAMES = 50;
const NAME = /^[A-Za-z0-9._-]{1,40}$/;
/** A name is forgotten this long after its last call, ms. */
const FORGET_AFTER_MS = 3_600_000;
/** Problems of callers that are not allowed to call: they must not use up the slots for names. */
const REJECTED = new Set(['client-not-allowed', 'host-not-allowed']);
/** The last minute, in points of 10 s. */
const MINUTE_POINTS = 6;

class Caller {
  /** All requests, whatever the result. */
  requests = 0;
  /** Calls since the last point and in the five before it, newest first. */
  minute: readonly CallTally[] = [new CallTally()];
  /** Time of the last call of `/api` by an app, ms since 1970. */
  lastAt = -Infinity;
}

type Request = Pick<RequestEnded, 'clientName' | 'isCall' | 'problem'>;

/**
 * Callers by name, from X-Client-Name (docs/logs.md#labels): the 50 names that called `/api` most recently, within an
 * hour, if they look like program names; `other` for the rest, which may contain anything; `none` without a name.
 */
@Injectable()
export class Callers {
  readonly #other = new Caller();
  readonly #unnamed = new Map([
    ['none', new Caller()],
    ['other', this.#other],
  ]);
  readonly #named: LRUCache<string, Caller>;

  constructor(private readonly clock: Clock) {
    this.#named = new LRUCache({
      max: MAX_NAMES,
      ttl: FORGET_AFTER_MS,
      ttlResolution: 0,
      updateAgeOnGet: true,
      perf: { now: () => clock.now().monotonic },
    });
  }

  /** @param call the result of a call by an app */
  record({ clientName: name = 'none', isCall = false, problem }: Request, call: RecentCall | null): void {
    const isAllowed = isCall && !(problem && REJECTED.has(problem.code));
    const caller = this.#find(name, isAllowed);
    caller.requests += 1;
    if (!call) return;
    caller.lastAt = this.clock.now().wall;
    caller.minute[0]?.record(call);
  }

  get requests(): { readonly name: string; readonly requests: number }[] {
    return this.#all().map(([name, { requests }]) => ({ name, requests }));
  }

  /** The callers of the last hour, those with the most calls in the last minute first. */
  get clients(): RecentClient[] {
    const { wall: now } = this.clock.now();
    const recent = this.#all().filter(([, { lastAt }]) => lastAt >= now - FORGET_AFTER_MS);
    const clients = recent.map(([name, { minute: points, lastAt }]) => {
      const minute = new CallTally();
      // no point ends while the machine sleeps
      if (lastAt > now - 60_000) for (const calls of points) minute.add(calls);
      const { requests: callsPerMinute, current, stale, errors } = minute;
      const p99Ms = minute.percentileMs(99);
      return { name, callsPerMinute, p99Ms, current, stale, errors, lastAt: new Date(lastAt).toISOString() };
    });
    return clients.toSorted((a, b) => b.callsPerMinute - a.callsPerMinute || a.name.localeCompare(b.name));
  }

  endPoint(): void {
    for (const [, caller] of this.#all()) {
      caller.minute = [new CallTally(), ...caller.minute].slice(0, MINUTE_POINTS);
    }
  }

  #all(): [string, Caller][] {
    return [...this.#unnamed, ...this.#named.entries()];
  }

  #find(name: string, isAllowed: boolean): Caller {
    const known = this.#unnamed.get(name) ?? (isAllowed ? this.#named.get(name) : this.#named.peek(name));
    if (known) return known;
    if (!isAllowed || !NAME.test(name) || hasManyDigits(name)) return this.#other;
    const caller = new Caller();
    this.#named.set(name, caller);
    return caller;
  }
}
