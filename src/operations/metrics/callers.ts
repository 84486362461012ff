import { Injectable } from '@nestjs/common';
import { hasManyDigits } from '../../errors/many-digits.js';
import { isApi } from '../../representation/paths.js';
import type { RequestEnded } from '../../telemetry/activity.js';
import { Clock } from '../../time/clock.js';
import { LastMinute } from './last-minute.js';
import type { RecentCall } from './recent-call.js';
import type { RecentClient } from './recent-schema.js';

const MAX_NAMES = 50;
const NAME = /^[A-Za-z0-9._-]{1,40}$/;
/** A name that called for longer ago is forgotten, ms. */
const FORGET_AFTER_MS = 3_600_000;
const WITHOUT_NAME = 'none';
const OTHER = 'other';
/** Problems of callers that are not allowed to call: they must not use up the names. */
const REJECTED = new Set(['client-not-allowed', 'host-not-allowed']);

interface Caller {
  /** All requests, whatever they got. */
  requests: number;
  readonly lastMinute: LastMinute;
  /** Time of the last call of `/api`, ms since 1970; null without one. */
  lastAt: number | null;
  /** The same by the monotonic clock. */
  lastSeen: number;
}

type Request = Pick<RequestEnded, 'clientName' | 'route' | 'problem'>;

/**
 * The callers by name, from their X-Client-Name (docs/logs.md#labels): the 50 names that called `/api` last within an
 * hour, if they look like those of programs; `other` for the rest, which may hold anything, and `none` without one.
 */
@Injectable()
export class Callers {
  readonly #byName = new Map<string, Caller>();

  constructor(private readonly clock: Clock) {
    for (const name of [WITHOUT_NAME, OTHER]) this.#add(name);
  }

  /** Counts a request. `call`: what it got, for a call of an app. */
  record(request: Request, call: RecentCall | null): void {
    const caller = this.#find(request);
    caller.requests += 1;
    if (!call) return;
    const { wall, monotonic } = this.clock.now();
    caller.lastAt = wall;
    caller.lastMinute.record(monotonic, call);
  }

  /** Requests by name. */
  get requests(): { readonly name: string; readonly requests: number }[] {
    this.#forgetOld();
    return [...this.#byName].map(([name, { requests }]) => ({ name, requests }));
  }

  /** The callers of the last hour, the busiest of the last minute first. */
  get clients(): RecentClient[] {
    this.#forgetOld();
    const { monotonic } = this.clock.now();
    const clients: RecentClient[] = [];
    for (const [name, { lastMinute, lastAt }] of this.#byName) {
      if (lastAt === null) continue;
      const { requests, ...got } = lastMinute.read(monotonic);
      clients.push({ name, callsPerMinute: requests, ...got, lastAt: new Date(lastAt).toISOString() });
    }
    return clients.toSorted((a, b) => b.callsPerMinute - a.callsPerMinute || a.name.localeCompare(b.name));
  }

  #find({ clientName: name = WITHOUT_NAME, route, problem }: Request): Caller {
    const isCall = route !== null && isApi(route) && !(problem && REJECTED.has(problem.code));
    const known = this.#byName.get(name);
    if (known) {
      if (isCall) known.lastSeen = this.clock.now().monotonic;
      return known;
    }
    const isNew = isCall && NAME.test(name) && !hasManyDigits(name);
    return isNew ? this.#add(name) : (this.#byName.get(OTHER) as Caller);
  }

  #add(name: string): Caller {
    const names = [...this.#byName].filter(([known]) => known !== WITHOUT_NAME && known !== OTHER);
    if (names.length >= MAX_NAMES) {
      const [oldest = ''] = names.reduce((one, other) => (other[1].lastSeen < one[1].lastSeen ? other : one));
      this.#byName.delete(oldest);
    }
    const { monotonic: lastSeen } = this.clock.now();
    const caller = { requests: 0, lastMinute: new LastMinute(), lastAt: null, lastSeen };
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
