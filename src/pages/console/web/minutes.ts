import type { Recent } from './gateway.js';

/** The worst response that apps got in one minute; `none` without calls. */
export interface Minute {
  /** Start of the minute, ms. */
  readonly at: number;
  readonly state: 'fresh' | 'stale' | 'failed' | 'none';
  readonly requests: number;
  readonly errors: number;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** The last 60 minutes, the present one last. */
export function toMinutes({ points }: Pick<Recent, 'points'>, now: number): Minute[] {
  const last = Math.floor(now / MINUTE_MS);
  return Array.from({ length: MINUTES }, (_, index) => {
    const minute = last - MINUTES + 1 + index;
    // a point is of the seconds before `at`
    const own = points.filter(({ at }) => Math.floor((Date.parse(at) - 1) / MINUTE_MS) === minute);
    const requests = own.reduce((sum, point) => sum + point.requests, 0);
    const errors = own.reduce((sum, point) => sum + point.errors, 0);
    const stale = own.some((point) => point.stale > 0);
    const state = errors > 0 ? 'failed' : stale ? 'stale' : requests > 0 ? 'fresh' : 'none';
    return { at: minute * MINUTE_MS, state, requests, errors };
  });
}

/** The hour in words. A share is rounded down: only what is perfect is 100 %. */
export function toSummary({ points }: Pick<Recent, 'points'>): string {
  const sum = (count: (point: Recent['points'][number]) => number) =>
    points.reduce((all, each) => all + count(each), 0);
  const requests = sum((point) => point.requests);
  if (requests === 0) return 'No calls in the last hour';
  const errors = sum((point) => point.errors);
  const fresh = sum((point) => point.current);
  const share = Math.floor((fresh / requests) * 1000) / 10;
  return `${share} % answered fresh · ${errors} failed ${errors === 1 ? 'call' : 'calls'}`;
}
