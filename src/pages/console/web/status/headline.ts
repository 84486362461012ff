import type { Health } from '../shared/health.js';
import { toDateAndMinute, toMinute, toMoment } from '../shared/time.js';
import type { Cause } from './cause.js';
import type { Served } from './served.js';

const DAY_MS = 86_400_000;

interface Facts {
  readonly health: Health;
  readonly served: Served;
  readonly cause: Cause;
  /** Status of the calls that fail. */
  readonly status: number;
  /** When calls begin to fail, or have begun. */
  readonly end: string | null;
  readonly since: string | null;
  readonly now: number;
}

/** What apps get, and until when, in a sentence or two. */
export function toHeadline({ health, served, cause, status, end, since, now }: Facts): string {
  const { asOf, stale } = health.details.snapshot;
  const copy = stale && asOf !== null ? `the copy of ${toMoment(asOf, now)}` : null;
  // a slow bank may still answer
  const then = cause.code === 'bank-slow' ? 'calls wait for the bank' : 'every call fails';
  const fails = end === null ? '' : ` At ${toMoment(end, now)} ${then}.`;
  switch (served) {
    case 'none':
      return since === null
        ? `All calls fail with ${status}.`
        : `All calls have failed with ${status} since ${toMoment(since, now)}.`;
    case 'waiting':
      return 'Calls wait for the bank: no list of accounts is cached.';
    case 'stopping':
      return 'This instance is stopping, and will soon take no calls.';
    case 'empty':
      return copy === null ? 'Apps get an empty list of accounts.' : `Apps get an empty list, ${copy}.${fails}`;
    case 'copy':
      return `Apps get ${copy}.${fails}`;
    case 'current':
      return `Apps get current data${toLimit(cause, end, fails, now)}`;
  }
}

/** Until when data is current, where something is about to end that. */
function toLimit({ part }: Cause, end: string | null, fails: string, now: number): string {
  if (end === null) return '.';
  if (part !== 'certificate' && part !== 'listener' && part !== 'token') return `.${fails}`;
  return Date.parse(end) - now > DAY_MS ? ` until ${toDateAndMinute(end)} UTC.` : ` until ${toMinute(end)}.`;
}
