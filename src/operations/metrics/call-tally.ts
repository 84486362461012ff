import { createHistogram } from 'node:perf_hooks';
import type { Owner } from '../../errors/problem-table.js';
import type { RequestEnded } from '../../telemetry/activity.js';

/** A minute in µs. Longer durations count as this one. */
const LONGEST = 60_000_000;

/** A call and its result. `other`: an error of the caller, or a caller that left. */
export interface RecentCall {
  readonly ms: number;
  readonly got: 'current' | 'stale' | 'errors' | 'other';
  readonly owner?: Owner | undefined;
}

/** The request as a call by an app; null for any other request. */
export function toRecentCall({ isCall, status, ms, cache, problem, isOwnPage }: RequestEnded): RecentCall | null {
  if (isOwnPage || !isCall) return null;
  if (status >= 500) return { ms, got: 'errors', owner: problem?.owner ?? 'operator' };
  if (status !== 200 && status !== 304) return { ms, got: 'other' };
  return { ms, got: cache === 'stale' ? 'stale' : 'current' };
}

/** The calls of some period, in constant memory: their results and durations. */
export class CallTally {
  requests = 0;
  current = 0;
  stale = 0;
  errors = 0;
  readonly failuresByOwner: Partial<Record<Owner, number>> = {};
  /** In µs. */
  readonly #durations = createHistogram({ figures: 1, lowest: 1, highest: LONGEST });

  record({ ms, got, owner }: RecentCall): void {
    this.requests += 1;
    if (got !== 'other') this[got] += 1;
    if (owner) this.failuresByOwner[owner] = (this.failuresByOwner[owner] ?? 0) + 1;
    this.#durations.record(Math.min(Math.max(1, Math.round(ms * 1000)), LONGEST));
  }

  /** Adds the calls of another tally, without their owners. */
  add(other: CallTally): void {
    this.requests += other.requests;
    this.current += other.current;
    this.stale += other.stale;
    this.errors += other.errors;
    this.#durations.add(other.#durations);
  }

  /** A percentile of the durations, ms, accurate to 8 %; null without calls. */
  percentileMs(percent: number): number | null {
    return this.requests === 0 ? null : Number((this.#durations.percentile(percent) / 1000).toPrecision(3));
  }
}
