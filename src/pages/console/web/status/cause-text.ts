import type { Health } from '../shared/health.js';
import { isPast, toCountdown, toDateAndMinute, toDuration, toMoment } from '../shared/time.js';
import type { Cause } from './cause.js';
import type { Incident } from './incident.js';
import { toWaiting } from './next-task.js';

/** The cause in words: the fact and its meaning. */
export interface CauseText {
  readonly what: string;
  /** The status of the bank's response, shown in bold. */
  readonly answer: string;
  readonly since: string;
  readonly meaning: string;
}

/** The cause, its start, and its meaning. */
export function toCauseText(cause: Cause, health: Health | null, now: number): CauseText {
  const { part, code, title, detail, answer } = cause;
  const request = part === 'token' ? 'token request' : 'account list';
  const isSince = cause.since !== null && isPast(cause.since, now);
  const since = isSince ? ` since ${toMoment(cause.since ?? '', now)}` : '';
  if (code === 'certificate-expiring' && health) return { ...toExpiry(cause, health, now), answer: '', since: '' };
  const { notAfter = null } = health?.details.certificate ?? {};
  if (code === 'certificate-unusable' && part === 'certificate' && notAfter && isPast(notAfter, now)) {
    const what = `The client certificate expired on ${toDateAndMinute(notAfter)} UTC.`;
    return { what, answer: '', since: '', meaning: health ? toWaiting(health.details.certificate, now) : '' };
  }
  if (answer !== null && answer !== 200) {
    const meaning = code === 'bank-error' ? '' : `${title}.`;
    return { what: `The bank answers the ${request} with `, answer: String(answer), since, meaning };
  }
  // the headline has the age of the copies
  if (code === 'bank-slow' && since) {
    return { what: `The ${request} has been slow${since}.`, answer: '', since: '', meaning: '' };
  }
  // the detail of an unreachable gateway contains the time
  const failing = since && part !== 'gateway' ? ` Failing${since}.` : '';
  const what = toFacts(detail);
  return {
    what: what && what.length <= MAX_CAUSE ? what : `${title}.`,
    answer: '',
    since: failing,
    meaning: code === 'clock-skewed' ? 'Which of the two is wrong is not known.' : '',
  };
}

/** Characters of a cause that a reader takes in at a glance. The runbook has the rest. */
const MAX_CAUSE = 120;

/** What happened, without the advice about our settings that follows it. */
export const toFacts = (detail: string): string =>
  detail
    .split(/(?<=[.;]) /)
    .filter((part) => !/\b[A-Z]+_[A-Z_]+\b/.test(part))
    .join(' ')
    .replace(/;$/, '.');

/** The bank's status, or the code in words: "unreachable", "proxy refused". */
export const toShortCause = (code: string, answer: number | null): string =>
  answer !== null && answer !== 200 ? String(answer) : code.replace(/^bank-/, '').replaceAll('-', ' ');

/** The effect of an expired certificate, and its start. */
function toExpiry({ part }: Cause, { details: { certificate, listener, snapshot } }: Health, now: number) {
  const expires = (notAfter: string) =>
    `${Date.parse(notAfter) <= now ? 'expired' : 'expires'} on ${toDateAndMinute(notAfter)} UTC.`;
  if (part === 'listener' && listener) {
    const what = `The certificate of this API ${expires(listener.notAfter)}`;
    const from = Date.parse(listener.notAfter) <= now ? 'Since then' : 'From then on';
    return { what, meaning: `${from}, apps that verify it cannot connect.` };
  }
  const { asOf, expiresAt } = snapshot;
  const copyMs = asOf === null || expiresAt === null ? null : Date.parse(expiresAt) - Date.parse(asOf);
  const later = copyMs === null ? 'soon after' : `within ${toDuration(copyMs)}`;
  const effect = `From then on nothing can be read from the bank, and ${later} every call fails with 503.`;
  return {
    what: `The client certificate ${expires(certificate.notAfter)}`,
    meaning: [effect, toWaiting(certificate, now)].filter(Boolean).join(' '),
  };
}

const HOUR_MS = 3_600_000;

/** The time left, or the time since calls began to fail or the certificate expired; null if unknown. */
export function toTimer({ served, end, since, status, cause, copy }: Incident, now: number) {
  if (end !== null) {
    const left = Date.parse(end) - now;
    const isCertificate = cause.part === 'certificate' || cause.part === 'listener';
    if (left <= 0 && isCertificate) return { value: toDuration(-left), label: 'since the certificate expired' };
    // a person cannot act on the seconds of a certificate's last day
    const value = left > (isCertificate ? 1 : 48) * HOUR_MS ? toDuration(left) : toCountdown(left / 1000);
    if (isCertificate && !copy) return { value, label: 'until the certificate expires' };
    return { value, label: cause.part === 'token' && !copy ? 'of current data' : `until calls fail with ${status}` };
  }
  if (served === 'none' && since !== null) {
    const ms = now - Date.parse(since);
    return { value: ms < 1000 ? 'now' : toDuration(ms), label: 'apps without data' };
  }
  return null;
}
