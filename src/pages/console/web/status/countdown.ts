import { toCountdown, toDuration } from '../shared/time.js';
import type { Incident } from './incident.js';

const TWO_DAYS_MS = 2 * 86_400_000;
const UNTIL: Readonly<Record<string, string>> = {
  certificate: 'until the certificate expires',
  listener: 'until the certificate expires',
  token: 'until the token expires',
};

/** The time left, or how long calls have failed or a certificate has been expired; null if none is known. */
export function toTimer({ served, end, since, status, waits, cause, copy }: Incident, now: number) {
  if (end !== null) {
    const left = Date.parse(end) - now;
    const isCertificate = cause.part === 'certificate' || cause.part === 'listener';
    if (left <= 0 && isCertificate) return { value: toDuration(-left), label: 'since the certificate expired' };
    const value = left > TWO_DAYS_MS ? toDuration(left) : toCountdown(left / 1000);
    const known = copy ? undefined : UNTIL[cause.part];
    const then = waits ? 'until calls wait for the bank' : `until calls fail with ${status}`;
    return { value, label: known ?? then };
  }
  if (served === 'none' && since !== null) {
    return { value: toDuration(now - Date.parse(since)), label: 'apps without data' };
  }
  return null;
}
