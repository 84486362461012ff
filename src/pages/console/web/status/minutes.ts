import type { Recent } from '../shared/gateway.js';
import { toGrouped } from '../shared/count.js';
import { toRejected } from './apps.js';

/** The results of calls over a period. */
export interface Got {
  readonly requests: number;
  readonly current: number;
  readonly stale: number;
  readonly errors: number;
}

export interface Minute extends Got {
  /** Start of the minute, ms. */
  readonly at: number;
  /** False before the gateway's start: no calls were counted, although some may have come. */
  readonly isRecorded: boolean;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

type Points = Recent['points'];

/** The 60 minutes up to `now`; the last one is incomplete. */
export function toMinutes(points: Points, now: number): Minute[] {
  const last = Math.floor(now / MINUTE_MS);
  const byMinute = Map.groupBy(points, ({ at }) => Math.floor((Date.parse(at) - 1) / MINUTE_MS));
  return Array.from({ length: MINUTES }, (_, index) => {
    const minute = last - MINUTES + 1 + index;
    const recorded = byMinute.get(minute);
    return { at: minute * MINUTE_MS, isRecorded: recorded !== undefined, ...sumOf(recorded ?? []) };
  });
}

/** True if the points cover the whole hour: the gateway was running, and no call is missing. */
export const isWholeHour = (points: Points, now: number): boolean =>
  // the first minute may have begun before the hour
  toMinutes(points, now)[1]?.isRecorded === true;

/** The hour in words, in one unit: calls. */
export function toSummary(points: Points): string {
  const all = sumOf(points);
  if (all.requests === 0) return 'no calls';
  const rejected = toRejected(all, all.requests);
  return [
    `${toGrouped(all.requests)} ${all.requests === 1 ? 'call' : 'calls'}`,
    `${toGrouped(all.current)} current`,
    `${toGrouped(all.stale)} copy`,
    `${toGrouped(all.errors)} failed${toShares(points)}`,
    ...(rejected > 0 ? [`${toGrouped(rejected)} rejected (4xx)`] : []),
  ].join(' · ');
}

/** The owners of the failed calls: " (20 bank, 3 operator)". */
function toShares(points: Points): string {
  const owners = new Map<string, number>();
  for (const { failuresByOwner } of points as readonly { readonly failuresByOwner?: Record<string, number> }[]) {
    for (const [owner, count] of Object.entries(failuresByOwner ?? {}))
      owners.set(owner, (owners.get(owner) ?? 0) + count);
  }
  const shares = [...owners].filter(([, count]) => count > 0).toSorted(([, a], [, b]) => b - a);
  return shares.length > 0 ? ` (${shares.map(([owner, count]) => `${toGrouped(count)} ${owner}`).join(', ')})` : '';
}

function sumOf(points: Points): Got {
  const sum = (name: keyof Got) => points.reduce((all, each) => all + each[name], 0);
  return { requests: sum('requests'), current: sum('current'), stale: sum('stale'), errors: sum('errors') };
}
