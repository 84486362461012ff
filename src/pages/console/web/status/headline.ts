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
  /** True where calls will wait for a slow bank. */
  readonly waits: boolean;
  /** When calls begin to fail, or have begun. */
  readonly end: string | null;
  readonly since: string | null;
  readonly now: number;
}

/** What apps get, and until when, in a sentence or two. */
export function toHeadline({ health, served, cause, status, waits, end, since, now }: Facts): string {
  const { asOf, stale } = health.details.snapshot;
  const copy = stale && asOf !== null ? `the copy of ${toMoment(asOf, now)}` : null;
  const then = waits ? 'calls wait for the bank' : 'every call fails';
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
      return toCurrent(cause, end, fails, now);
  }
}

/** Until when data is current, where something ends that. */
function toCurrent({ part }: Cause, end: string | null, fails: string, now: number): string {
  const current = 'Apps get current data';
  const leftMs = end === null ? Infinity : Date.parse(end) - now;
  if (part === 'listener' && leftMs <= 0) return 'Apps cannot connect: the certificate of this API has expired.';
  if (end === null || leftMs <= 0) return `${current}.`;
  if (part !== 'certificate' && part !== 'listener' && part !== 'token') return `${current}.${fails}`;
  return leftMs > DAY_MS ? `${current} until ${toDateAndMinute(end)} UTC.` : `${current} until ${toMinute(end)}.`;
}
