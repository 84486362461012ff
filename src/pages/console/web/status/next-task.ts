import type { Health } from '../shared/health.js';
import { toDate, toMoment } from '../shared/time.js';

const EXPIRING_MS = 30 * 86_400_000;

/** The next task: renewing the certificate that expires first, 30 days in advance or now. */
export interface NextTask {
  readonly text: string;
  /** The day, ISO 8601. */
  readonly due: string;
  /** The certificate to renew: subject, and thumbprint if known. */
  readonly which: string;
  /** The address of the instructions. */
  readonly how: string;
  /** A newer certificate that is not in use yet, in words; empty without one. */
  readonly waiting: string;
}

const STATES: Readonly<Record<string, string>> = {
  'waiting-for-bank': 'the bank has not accepted it yet',
  'not-yet-valid': 'it is not valid yet',
  refused: 'it was rejected',
};

export function toNextTask({ details: { certificate, listener } }: Health, now: number): NextTask {
  const ends = Date.parse(certificate.notAfter);
  const listenerEnds = Date.parse(listener?.notAfter ?? certificate.notAfter);
  const ofApi = listener && listenerEnds < ends ? listener : null;
  const name = ofApi ? 'certificate of this API' : 'certificate';
  const first = Math.min(ends, listenerEnds);
  const isDue = first - EXPIRING_MS <= now;
  const due = new Date(isDue ? now : first - EXPIRING_MS).toISOString();
  const expires = `it ${first <= now ? 'expired' : 'expires'} on ${toDate(new Date(first).toISOString())}`;
  const text = isDue ? `Renew the ${name} now: ${expires}` : `Renew the ${name} by ${toDate(due)}`;
  const which = ofApi?.subject ?? `${certificate.subject}, ${certificate.thumbprint}`;
  const how = ofApi ? '/problems/certificate-expiring' : '/docs/guide/certificates#renew-the-certificate';
  return { text, due, which, how, waiting: toWaiting(certificate, now) };
}

/** A newer client certificate that is not in use yet, in words; empty without one. */
export function toWaiting({ next }: Health['details']['certificate'], now: number): string {
  if (!next) return '';
  const until = next.notAfter ? `, valid until ${toDate(next.notAfter)},` : '';
  return `A new certificate${until} was found at ${toMoment(next.since, now)} and is not in use: ${STATES[next.state] ?? next.state}.`;
}

/** The task for a calendar, as a data URL with an iCalendar file (RFC 5545). */
export function toCalendar(
  { text, due, which }: NextTask,
  { instance, details: { certificate } }: Health,
  now: number,
): string {
  const stamp = (at: string | number) => new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = stamp(due).slice(0, 8);
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//accounts-gateway//EN',
    'BEGIN:VEVENT',
    `UID:${certificate.thumbprint}-${day}@accounts-gateway`,
    `DTSTAMP:${stamp(now)}`,
    `DTSTART;VALUE=DATE:${day}`,
    `SUMMARY:${escapeText(text)}`,
    `DESCRIPTION:${escapeText(`accounts-gateway ${instance}, ${which}`)}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ];
  return `data:text/calendar;charset=utf-8,${encodeURIComponent(lines.join('\r\n'))}`;
}

const escapeText = (text: string): string => text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\s+/g, ' ');
