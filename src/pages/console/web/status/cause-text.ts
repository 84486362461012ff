import type { Health } from '../shared/health.js';
import { isPast, toDateAndMinute, toDuration, toMoment } from '../shared/time.js';
import type { Cause } from './cause.js';

/** An answer of the bank, as src/egress words it: the endpoint, its status, and what that means. */
const ANSWERED = /^The (account list|token endpoint) answered (\d{3})(?:: (.*))?\.$/;

/** The cause in words: what happens, and what that means. */
export interface CauseText {
  readonly what: string;
  /** The status that the bank answers; shown in bold. */
  readonly answer: string;
  readonly since: string;
  readonly meaning: string;
}

/** What is wrong, since when, and what that means. */
export function toCauseText(cause: Cause, health: Health | null, now: number): CauseText {
  const hasBegun = cause.since !== null && isPast(cause.since, now);
  const since = hasBegun ? ` since ${toMoment(cause.since ?? '', now)}` : '';
  if (cause.code === 'certificate-expiring' && health)
    return { ...toExpiry(cause, health, now), answer: '', since: '' };
  const { notAfter = null } = health?.details.certificate ?? {};
  if (cause.code === 'certificate-unusable' && cause.part === 'certificate' && notAfter && isPast(notAfter, now)) {
    const what = `The client certificate expired on ${toDateAndMinute(notAfter)} UTC.`;
    return { what, answer: '', since: '', meaning: '' };
  }
  const [, endpoint, answer, meaning = ''] = ANSWERED.exec(cause.detail) ?? [];
  if (endpoint !== undefined && answer !== undefined) {
    return {
      what: `The bank answers the ${endpoint.replace('endpoint', 'request')} with `,
      answer,
      since,
      meaning: toSentence(meaning),
    };
  }
  // the detail of a gateway that is gone has the time
  const failing =
    since && cause.part !== 'gateway' ? ` ${cause.code === 'bank-slow' ? 'Slow' : 'Failing'}${since}.` : '';
  return { what: cause.detail || `${cause.title}.`, answer: '', since: failing, meaning: '' };
}

/** The status that the bank answers, or the code in words: "unreachable", "proxy refused". */
export const toShortCause = ({ detail, code }: Pick<Cause, 'detail' | 'code'>): string =>
  ANSWERED.exec(detail)?.[2] ?? code.replace(/^bank-/, '').replaceAll('-', ' ');

/** What happens when a certificate expires, and when; or has happened. */
function toExpiry({ part }: Cause, { details: { certificate, listener, snapshot } }: Health, now: number) {
  const expires = (notAfter: string) =>
    `${Date.parse(notAfter) <= now ? 'expired' : 'expires'} on ${toDateAndMinute(notAfter)} UTC.`;
  if (part === 'listener' && listener) {
    const what = `The certificate of this API ${expires(listener.notAfter)}`;
    return { what, meaning: 'From then on, apps do not connect to it.' };
  }
  const { asOf, expiresAt } = snapshot;
  const copyMs = asOf === null || expiresAt === null ? null : Date.parse(expiresAt) - Date.parse(asOf);
  const later = copyMs === null ? 'soon after' : `${toDuration(copyMs)} later`;
  return {
    what: `The client certificate ${expires(certificate.notAfter)}`,
    meaning: `From then on nothing can be read from the bank, and ${later} every call fails with 503.`,
  };
}

function toSentence(text: string): string {
  if (text === '') return '';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
