const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

let offsetMs: number | null = null;

/**
 * Sets the gateway's clock from the `Date` of a response, because the reader's own may be wrong. It has whole seconds.
 */
export function setServerTime(date: string | null): void {
  const given = Date.parse(date ?? '') - performance.now();
  if (!Number.isNaN(given) && (offsetMs === null || Math.abs(given - offsetMs) > 1500)) offsetMs = given;
}

/** The gateway's time in ms; the reader's until the first response. */
export const serverNow = (): number => (offsetMs === null ? Date.now() : performance.now() + offsetMs);

/** Accuracy, ms: the `Date` of a response has whole seconds, and the response takes time. */
const CLOCK_STEP_MS = 2000;

/** True if this instant is in the past, as far as the page knows the gateway's clock. */
export const isPast = (instant: string, now: number): boolean => Date.parse(instant) <= now + CLOCK_STEP_MS;

/** A duration as people write it, rounded down: "8 s", "3 min", "5 h", "4 days". */
export function toDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} days`;
}

/** The remaining time: "4:12", "1:04:12". */
export function toCountdown(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / HOUR), Math.floor((whole % HOUR) / MINUTE)];
  const rest = String(whole % MINUTE).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

function format(options: Intl.DateTimeFormatOptions, instant: string | number): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return String(instant);
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(at);
}

const SHORT = { hour: '2-digit', minute: '2-digit' } as const;

/** The time of day in UTC with seconds; text other than an instant is unchanged. */
export const toClock = (instant: string | number): string => format({ ...SHORT, second: '2-digit' }, instant);

/** The time of day in UTC, to the minute. */
export const toMinute = (instant: string | number): string => format(SHORT, instant);

/** The date and the time of day in UTC, to the minute: "24 Nov 2026, 08:00". */
export const toDateAndMinute = (instant: string | number): string => format({ ...DATE, ...SHORT }, instant);

const isSameDay = (a: string | number, b: number): boolean =>
  new Date(a).toISOString().slice(0, 10) === new Date(b).toISOString().slice(0, 10);

/** The time of day with seconds, preceded by the date unless it is the date of `now`. */
export const toMoment = (instant: string | number, now: number): string =>
  format({ ...(!isSameDay(instant, now) && DAY_AND_MONTH), ...SHORT, second: '2-digit' }, instant);

/** The same to the minute. */
export const toMinuteMoment = (instant: string | number, now: number): string =>
  format({ ...(!isSameDay(instant, now) && DAY_AND_MONTH), ...SHORT }, instant);

const DAY_AND_MONTH = { day: 'numeric', month: 'short' } as const;

/** The date; text other than an instant is unchanged. */
export const toDate = (instant: string): string => format(DATE, instant);
const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const;

/** The date as the bank wrote it: midnight in another time zone must not become the day before. */
export function toWrittenDate(instant: string): string {
  if (!/^\d{4}-\d\d-\d\d/.test(instant)) return instant;
  const day = instant.slice(0, 10);
  // years like 0001 mean "unknown" in some systems, and would look like a date in this century
  return day < '1800' ? day : format(DATE, `${day}T12:00:00Z`);
}
