import { Injectable } from '@nestjs/common';
import { hasManyDigits } from '../../errors/many-digits.js';
import type { RequestEnded } from '../../telemetry/activity.js';
import { Clock, type Instant } from '../../time/clock.js';
import { CallTally, type RecentCall } from './call-tally.js';
import type { RecentClient } from './recent-schema.js';

const MAX_NAMES = 50;
const NAME = /^[A-Za-z0-9._-]{1,40}$/;
/** A name is forgotten this long after its last call, ms. */
const FORGET_AFTER_MS = 3_600_000;
const WITHOUT_NAME = 'none';
const OTHER = 'other';
/** Problems of callers that are not allowed to call: they must not use up the slots for names. */
const REJECTED = new Set(['client-not-allowed', 'host-not-allowed']);
/** The last minute, in points of 10 s. */
const MINUTE_POINTS = 6;

interface Caller {
  requests: number;
  /** Calls since the last point and in the five before it, newest first. */
  minute: readonly CallTally[];
  /** Time of the last call of `/api`, ms since 1970; null without one. */
  lastAt: number | null;
  /** Time of the last call by an allowed caller, our own pages included, monotonic ms; before it, of the start. */
  lastSeen: number;
}

type Request = Pick<RequestEnded, 'clientName' | 'isCall' | 'problem'>;

/**
 * Callers by name, from X-Client-Name (docs/logs.md#labels): the 50 names that called `/api` most recently, within an
 * hour, if they look like program names; `other` for the rest, which may contain anything; `none` without a name.
 */
@Injectable()
export class Callers {
  readonly #byName = new Map<string, Caller>();

  constructor(private readonly clock: Clock) {
    for (const name of [WITHOUT_NAME, OTHER]) this.#add(name);
  }

  /** @param call the result of a call by an app */
  record(request: Request, call: RecentCall | null): void {
    const now = this.clock.now();
    const caller = this.#find(request, now);
    caller.requests += 1;
    if (!call) return;
    caller.lastAt = now.wall;
    caller.minute[0]?.record(call);
  }

  get requests(): { readonly name: string; readonly requests: number }[] {
    this.#forgetOld();
    return [...this.#byName].map(([name, { requests }]) => ({ name, requests }));
  }

  /** The callers of the last hour, those with the most calls in the last minute first. */
  get clients(): RecentClient[] {
    this.#forgetOld();
    const clients: RecentClient[] = [];
    for (const [name, { minute: points, lastAt: at }] of this.#byName) {
      if (at === null) continue;
      const minute = new CallTally();
      for (const calls of points) minute.add(calls);
      const { requests: callsPerMinute, current, stale, errors } = minute;
      const lastAt = new Date(at).toISOString();
      clients.push({ name, callsPerMinute, p99Ms: minute.percentileMs(99), current, stale, errors, lastAt });
    }
    return clients.toSorted((a, b) => b.callsPerMinute - a.callsPerMinute || a.name.localeCompare(b.name));
  }

  /** Begins the next point. */
  endPoint(): void {
    for (const caller of this.#byName.values()) {
      caller.minute = [new CallTally(), ...caller.minute].slice(0, MINUTE_POINTS);
    }
  }

  #find({ clientName: name = WITHOUT_NAME, isCall = false, problem }: Request, now: Instant): Caller {
    const isAllowed = isCall && !(problem && REJECTED.has(problem.code));
    const isNew = isAllowed && NAME.test(name) && !hasManyDigits(name);
    const caller = this.#byName.get(name) ?? (isNew ? this.#add(name) : (this.#byName.get(OTHER) as Caller));
    if (isAllowed) caller.lastSeen = now.monotonic;
    return caller;
  }

  #add(name: string): Caller {
    const names = [...this.#byName].filter(([known]) => known !== WITHOUT_NAME && known !== OTHER);
    if (names.length >= MAX_NAMES) {
      const [oldest = ''] = names.reduce((one, other) => (other[1].lastSeen < one[1].lastSeen ? other : one));
      this.#byName.delete(oldest);
    }
    const { monotonic: lastSeen } = this.clock.now();
    const caller: Caller = { requests: 0, minute: [new CallTally()], lastAt: null, lastSeen };
    this.#byName.set(name, caller);
    return caller;
  }

  #forgetOld(): void {
    for (const [name, caller] of this.#byName) {
      if (this.clock.now().monotonic - caller.lastSeen <= FORGET_AFTER_MS) continue;
      if (name === WITHOUT_NAME || name === OTHER) caller.lastAt = null;
      else this.#byName.delete(name);
    }
  }
}
