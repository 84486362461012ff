import type { Recent } from '../shared/gateway.js';
import type { Served } from './served.js';

/** What the calls of one minute got. */
export interface Minute {
  /** Start of the minute, ms. */
  readonly at: number;
  readonly requests: number;
  readonly current: number;
  readonly stale: number;
  readonly errors: number;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;
const PRESENT: Readonly<Record<Served | 'unknown', Partial<Minute>>> = {
  current: { current: 1 },
  copy: { stale: 1 },
  empty: {},
  none: { errors: 1 },
  waiting: {},
  stopping: {},
  unknown: {},
};

/** The last 60 minutes. The present one, which is last, shows what a call would get now, even if nobody calls. */
export function toMinutes({ points }: Pick<Recent, 'points'>, served: Served | 'unknown', now: number): Minute[] {
  const last = Math.floor(now / MINUTE_MS);
  return Array.from({ length: MINUTES }, (_, index) => {
    const minute = last - MINUTES + 1 + index;
    // a point covers the seconds before `at`
    const own = points.filter(({ at }) => Math.floor((Date.parse(at) - 1) / MINUTE_MS) === minute);
    return { at: minute * MINUTE_MS, ...sumOf(own), ...(minute === last && { ...NOTHING, ...PRESENT[served] }) };
  });
}

const NOTHING = { current: 0, stale: 0, errors: 0 };

/** The hour in words. Shares are rounded down, so that 100 % means all calls. */
export function toSummary(recent: Pick<Recent, 'points' | 'clients'> | null): string {
  const { requests, current, stale, errors } = sumOf(recent?.points ?? []);
  // the first calls are in no point yet
  if (requests === 0) return recent?.clients.length === 0 ? 'No calls in the last hour' : '';
  const share = (count: number) => `${Math.floor((count / requests) * 1000) / 10} %`;
  const copy = stale > 0 ? ` · ${share(stale)} copy` : '';
  return `${share(current)} current${copy} · ${errors} of ${toGrouped(requests)} failed`;
}

function sumOf(points: Recent['points']) {
  const sum = (name: 'requests' | 'current' | 'stale' | 'errors') => points.reduce((all, each) => all + each[name], 0);
  return { requests: sum('requests'), current: sum('current'), stale: sum('stale'), errors: sum('errors') };
}

/** Digits in groups of three, with a narrow gap that does not break. */
const toGrouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');
