import type { Owner } from '../../errors/problem-table.js';
import type { RequestEnded } from '../../telemetry/activity.js';

/** Durations are counted in buckets 15 % apart, from 0.05 ms to a minute. */
const STEPS = 100;
const FIRST_MS = 0.05;
const GROWTH = 1.15;

/** A call and its result. `other`: an error of the caller, or a caller that left. */
export interface RecentCall {
  readonly ms: number;
  readonly got: 'current' | 'stale' | 'errors' | 'other';
  /** The party that must act on an error. */
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
  /** Errors by the party that must act. */
  readonly failuresByOwner: Partial<Record<Owner, number>> = {};
  readonly #durations = new Uint32Array(STEPS);

  record({ ms, got, owner }: RecentCall): void {
    this.requests += 1;
    if (got !== 'other') this[got] += 1;
    if (owner) this.failuresByOwner[owner] = (this.failuresByOwner[owner] ?? 0) + 1;
    const step = toStep(ms);
    this.#durations[step] = (this.#durations[step] ?? 0) + 1;
  }

  /** Adds the calls of another tally, without their owners. */
  add(other: CallTally): void {
    this.requests += other.requests;
    this.current += other.current;
    this.stale += other.stale;
    this.errors += other.errors;
    for (const [step, count] of other.#durations.entries()) {
      this.#durations[step] = (this.#durations[step] ?? 0) + count;
    }
  }

  /** A percentile of the durations, ms, accurate to 8 %; null without calls. */
  percentileMs(percent: number): number | null {
    if (this.requests === 0) return null;
    const wanted = (this.requests * percent) / 100;
    let counted = 0;
    const step = this.#durations.findIndex((count) => {
      counted += count;
      return counted >= wanted;
    });
    // the middle of the bucket
    return Number((FIRST_MS * GROWTH ** (step - 0.5)).toPrecision(2));
  }
}

function toStep(ms: number): number {
  const step = Math.ceil(Math.log(Math.max(ms, FIRST_MS) / FIRST_MS) / Math.log(GROWTH));
  return Math.min(step, STEPS - 1);
}
