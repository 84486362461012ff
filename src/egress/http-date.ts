const SKEWED_FROM_MS = 30_000;

/** C's asctime format, which has no zone and means UTC. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/** An HTTP date in any of its three forms (RFC 9110 §5.6.7), ms since 1970; null if it is missing or invalid. */
export function parseHttpDate(date = ''): number | null {
  const text = date.trim();
  const ms = ASCTIME.test(text) ? Date.parse(`${text} GMT`) : /^[A-Z][a-z]+, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** True if an operator should act, because tokens and certificates depend on the time (`clock-skewed`). */
export const isSkewed = (clockSkewMs: number): boolean => Math.abs(clockSkewMs) > SKEWED_FROM_MS;

/**
 * Milliseconds from a Retry-After header in seconds or as a date (RFC 9110 §10.2.3); undefined if it is invalid.
 * @param date the Date header of the same response, since the other side's date follows its own clock
 */
export function toRetryAfterMs(header = '', date = '', nowMs = Date.now()): number | undefined {
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const untilMs = parseHttpDate(text);
  return untilMs === null ? undefined : Math.max(0, untilMs - (parseHttpDate(date) ?? nowMs));
}
