import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS = 30;

/** A Monday in the local time of bank and callers: UTC+2, and UTC+1 from the night of Sunday, day 21. */
const MONTH_STARTS = Date.UTC(2026, 9, 5);
const CLOCKS_GO_BACK = Date.UTC(2026, 9, 25, 1);

type Kind =
  /** 503 from both endpoints. It is announced, so operators silence alerts. */
  | 'window'
  /** 503 from both endpoints, unannounced. */
  | 'overrun'
  /** A network failure: no connection. */
  | 'down'
  /** The list takes up to `value` ms. */
  | 'slow'
  /** Three list calls in ten get 429 with a Retry-After of `value` seconds. */
  | 'rate-limited'
  /** The bank rejects every token issued before the end of this event. */
  | 'revoked'
  /** 404 from the account list. */
  | 'not-granted'
  /** The list has `value` accounts from now on. */
  | 'accounts'
  /** The bank has a new password. The operator installs it at the end of this event. */
  | 'password'
  /** The operator installs a new certificate. The bank accepts it from the end of this event on. */
  | 'certificate'
  /** The machine's wall clock is `value` ms ahead. */
  | 'clock'
  /** The machine is suspended. */
  | 'sleep';

interface OddEvent {
  readonly kind: Kind;
  readonly value: number;
  /** ms since 1970. */
  readonly from: number;
  readonly until: number;
}

/**
 * Candidate days (one is drawn), local time, minutes (drawn), and a value. Days 6, 7, 13, 14, 20, 21, 27 and 28 are
 * weekends.
 */
const ODD_DAYS: readonly (readonly [days: [number, number], at: string, minutes: [number, number], Kind, number?])[] = [
  [[1, 1], '00:00', [0, 0], 'accounts', 940],
  [[1, 3], '08:00', [30, 60], 'slow', 4000],
  [[2, 4], '13:00', [1, 2], 'down'],
  [[3, 5], '11:10', [0, 0], 'revoked'],
  [[4, 5], '12:00', [120, 180], 'clock', 15 * MINUTE_MS],
  [[6, 6], '06:00', [0, 0], 'accounts', 1030],
  [[8, 8], '10:00', [40, 90], 'certificate'],
  [[9, 12], '02:15', [50, 90], 'overrun'],
  [[9, 10], '08:00', [30, 60], 'slow', 5000],
  [[10, 11], '09:30', [90, 150], 'rate-limited', 45],
  [[12, 12], '10:00', [60, 120], 'clock', -10 * MINUTE_MS],
  [[13, 13], '06:00', [0, 0], 'accounts', 1250],
  [[15, 15], '09:00', [15, 30], 'password'],
  [[16, 17], '14:00', [3, 6], 'revoked'],
  [[17, 18], '15:00', [8, 15], 'down'],
  [[18, 19], '12:30', [20, 20], 'sleep'],
  [[20, 20], '06:00', [0, 0], 'accounts', 980],
  [[22, 23], '08:00', [40, 70], 'slow', 12_000],
  [[22, 26], '13:00', [60, 90], 'rate-limited', 120],
  [[24, 24], '11:00', [0, 0], 'accounts', 0],
  [[24, 24], '11:20', [0, 0], 'accounts', 985],
  [[25, 26], '16:00', [10, 20], 'not-granted'],
  [[29, 30], '08:00', [30, 60], 'slow', 4000],
];

const localOffsetMs = (ms: number) => (ms < CLOCKS_GO_BACK ? 120 : 60) * MINUTE_MS;

/** The UTC time of a day and a local time. */
export function toTime(day: number, minutes: number): number {
  const local = MONTH_STARTS + (day - 1) * DAY_MS + minutes * MINUTE_MS;
  return local - localOffsetMs(local - 120 * MINUTE_MS);
}

/** Day (from 1), minute of the day and weekend, in local time. */
export function toLocal(ms: number) {
  const local = ms + localOffsetMs(ms) - MONTH_STARTS;
  const day = Math.floor(local / DAY_MS) + 1;
  return { day, minute: Math.floor((local % DAY_MS) / MINUTE_MS), weekend: (day - 1) % 7 > 4 };
}

/** A random integer from `from` to `to`, inclusive. The same seed gives the same numbers. */
export type Draw = (from: number, to: number) => number;

export function toDraw(seed: number): Draw {
  const random = xoroshiro128plus(seed);
  return (from, to) => uniformInt(random, from, to);
}

/** The events of the month: a maintenance window each night, a longer one on Sundays, and the odd days. */
export function planMonth(draw: Draw) {
  const nights = Array.from({ length: DAYS }, (_, index): OddEvent => {
    const day = index + 1;
    const [at, minutes] = day % 7 === 0 ? [60, draw(120, 170)] : [120, draw(10, 25)];
    return { kind: 'window', value: 0, from: toTime(day, at), until: toTime(day, at + minutes) };
  });
  const odd = ODD_DAYS.map(([days, at, minutes, kind, value = 0]): OddEvent => {
    const [hour = 0, minute = 0] = at.split(':').map(Number);
    const from = toTime(draw(...days), hour * 60 + minute);
    return { kind, value, from, until: from + draw(...minutes) * MINUTE_MS };
  });
  const events = [...nights, ...odd].toSorted((a, b) => a.from - b.from);
  return {
    events,
    /** The event of this kind that is in progress at this time. */
    during: (kind: Kind, at: number) => events.find((each) => each.kind === kind && each.from <= at && at < each.until),
    /** The last event of this kind that has begun by this time. */
    begun: (kind: Kind, at: number) => events.findLast((each) => each.kind === kind && each.from <= at),
    ended: (kind: Kind, at: number) => events.some((each) => each.kind === kind && each.until <= at),
  };
}

export type Plan = ReturnType<typeof planMonth>;
