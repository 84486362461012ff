/** Skew from which an operator should act, because tokens and certificates depend on the time. */
const SKEWED_FROM_MS = 30_000;

/**
 * How far our wall clock is behind that of the bank (negative: ahead of it), ms, to the second; null without a usable header.
 * @param date the header as sent
 * @param nowMs our wall clock when the answer arrived
 */
export function toClockSkewMs(date: string | undefined, nowMs: number): number | null {
  const sentMs = /^[A-Z][a-z]{2}, /.test(date ?? '') ? Date.parse(date ?? '') : NaN;
  return Number.isNaN(sentMs) ? null : sentMs - nowMs;
}

/** True if the clocks differ by so much that it is reported as `clock-skewed`. */
export const isSkewed = (clockSkewMs: number): boolean => Math.abs(clockSkewMs) > SKEWED_FROM_MS;
