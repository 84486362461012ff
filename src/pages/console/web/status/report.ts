import type { Health } from '../shared/health.js';
import { toFacts } from './cause-text.js';
import type { Incident } from './incident.js';

/** An instant in a text that leaves this page: date, time, zone. */
const toUtc = (instant: string | number): string =>
  `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The text for the bank's service desk or the network team: who we are, the call and its response, and a request. */
export function toReport({ cause, request, call }: Incident, health: Health, now: number): string {
  const { bank, certificate, egress, token } = health.details;
  // with a response, it is the last error of the request that fails
  const error = cause.answer === null ? null : cause.part === 'token' ? token.lastError : bank.lastError;
  const host = cause.part === 'token' ? token.host : bank.host;
  const since = cause.since === null ? '' : ` since ${toUtc(cause.since)}`;
  const asked = cause.part === 'token' ? 'GET, the access token' : 'GET, the account list';
  const lastSuccess = cause.part === 'token' ? token.lastSuccessAt : bank.lastSuccessAt;
  const isEmpty = cause.code === 'accounts-emptied';
  const rows: readonly (readonly [string, string | null])[] = [
    ['Our request', isEmpty ? 'GET, the account list' : asked],
    ['Host', host],
    ['Response', toResponse(cause)],
    ['Your error code', error?.bankCode ?? null],
    ['Your trace id', error?.bankTraceId ?? null],
    ['First failure', cause.since && toUtc(cause.since)],
    ['Attempts', cause.attempts === null ? null : String(cause.attempts)],
    ['Last success', lastSuccess && toUtc(lastSuccess)],
    ['Our address', egress.publicAddress],
    ['Our route', call === 'network' ? egress.route : null],
    ['Our certificate', certificate.subject],
    ['Its thumbprint', certificate.thumbprint && `${certificate.thumbprint} (SHA-1)`],
    ['It expires on', certificate.notAfter && toUtc(certificate.notAfter)],
    ['Our system', toSystem(health)],
    ['Report created', toUtc(now)],
  ];
  const filled = rows.filter((row): row is readonly [string, string] => Boolean(row[1]));
  const width = Math.max(...filled.map(([name]) => name.length)) + 2;
  const who =
    call === 'network'
      ? `We read accounts from the bank at ${host}.`
      : 'We read accounts through your API, with the client certificate named below.';
  return [
    `${cause.title}${since}`,
    '',
    who,
    '',
    ...filled.map(([name, value]) => `${name.padEnd(width)}${value}`),
    '',
    request ?? '',
    '',
  ].join('\n');
}

/** The bank's response; our own words for a state of this gateway, and our settings, are not meant for the bank. */
function toResponse({ code, answer, title, detail }: Incident['cause']): string {
  if (answer !== null && answer !== 200) return `HTTP status ${answer}`;
  return code === 'bank-slow' ? title : toFacts(detail) || title;
}

/** The text for the teams whose apps call this gateway. */
export function toNote(incident: Incident, health: Health, now: number): string {
  const { headline, served, cause } = incident;
  const since = cause.since === null ? '' : `since ${toUtc(cause.since)}`;
  return [
    `${toSystem(health)}, ${toUtc(now)}`,
    '',
    `${headline} (Times are UTC.)`,
    served === 'unknown'
      ? `Seen from its status page ${since}. Apps on another network path may still reach it.`
      : `Cause: ${cause.title} (${cause.code})${since && `, ${since}`}.`,
    toAppAdvice(incident),
    '',
  ].join('\n');
}

/** The data that an app shows in the meantime. */
function toAppAdvice({ served, copy, cause }: Incident): string {
  const rule = 'Show no amounts, and wait for Retry-After before you retry.';
  if (served === 'unknown')
    return 'If your app gets no response either, it may show the balances it has, with snapshot.asOf beside them, until snapshot.expiresAt. Retry with a back-off.';
  if (served === 'empty') return 'Do not read the empty list as "no accounts".';
  if (served === 'waiting' || served === 'untried') return `Calls wait, and may fail with 504 bank-timeout. ${rule}`;
  if (copy === null && served !== 'copies') return `Your app gets problem documents with code ${cause.code}. ${rule}`;
  return 'Your app gets snapshot.stale = true. Show snapshot.asOf beside the balances, and remove them after snapshot.expiresAt.';
}

const toSystem = ({ version, environment, instance }: Health): string =>
  ['accounts-gateway', version, environment, instance].filter(Boolean).join(' ');
