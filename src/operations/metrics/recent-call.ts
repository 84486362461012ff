import type { Owner } from '../../errors/problem-table.js';
import { isApi } from '../../representation/paths.js';
import type { RequestEnded } from '../../telemetry/activity.js';

/** A call of an app, and what it got. `other`: an error of the caller, or a caller that left. */
export interface RecentCall {
  readonly ms: number;
  readonly got: 'current' | 'stale' | 'errors' | 'other';
  /** Who must act on an error. */
  readonly owner?: Owner | undefined;
}

/** The request as a call of an app; null for every request that is none. */
export function toRecentCall({ route, status, ms, cache, problem, isOwnPage }: RequestEnded): RecentCall | null {
  if (isOwnPage || route === null || !isApi(route)) return null;
  if (status >= 500) return { ms, got: 'errors', owner: problem?.owner ?? 'operator' };
  if (status !== 200 && status !== 304) return { ms, got: 'other' };
  return { ms, got: cache === 'stale' ? 'stale' : 'current' };
}
