const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** An age for people: "8 s", "3 min", "2 h", "4 days". */
export function toAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 100) return `${whole} s`;
  if (whole < 100 * MINUTE) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h`;
  return `${Math.floor(whole / DAY)} days`;
}

/** Minutes and seconds that are left: "4:12". */
export function toCountdown(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / HOUR), Math.floor((whole % HOUR) / MINUTE)];
  const rest = String(whole % MINUTE).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** What is left of days: "364 days", below three days "2 d 4 h". */
export function toDaysLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds >= 3 * DAY) return `${Math.floor(seconds / DAY)} days`;
  if (seconds >= DAY) return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h`;
  return toCountdown(seconds);
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const SHORT = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

const format = (formatter: Intl.DateTimeFormat, instant: string): string => {
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? instant : formatter.format(at);
};

/** The time of day where the reader is; a text that is no instant stays as it is. */
export const toClock = (instant: string): string => format(CLOCK, instant);

/** The date where the reader is; a text that is no instant stays as it is. */
export const toDate = (instant: string): string => format(DATE, instant);

/** The date as the bank wrote it: an instant at midnight elsewhere is not the day before. */
export function toWrittenDate(instant: string): string {
  if (!/^\d{4}-\d\d-\d\d/.test(instant)) return instant;
  const day = instant.slice(0, 10);
  // years like 0001 stand for "unknown" in some systems, and would look like a day of this century
  return day < '1800' ? day : toDate(`${day}T12:00:00`);
}

/** The time of day for today, else the date. */
export function toMoment(instant: string, now = new Date()): string {
  return toDate(instant) === DATE.format(now) ? format(SHORT, instant) : toDate(instant);
}
