import { toAccounts } from '../shared/count.js';
import { toPoints, type ProblemEntry, type Recent } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { toDuration, toMinute, toMoment } from '../shared/time.js';
import { isRejected, toAppName } from './apps.js';
import { findFailure, toTroubles } from './cause.js';
import { isWholeHour, toMinutes } from './minutes.js';
import { isShut, toServed } from './served.js';

const MINUTE_MS = 60_000;

/** A gateway that serves no app: none called for a minute, but for those whose calls are all rejected (4xx). */
export interface Idle {
  /** Time since the last call by another app; null if there was none in the last hour. */
  readonly silentMs: number | null;
  /** The last refresh, or a failed token request after it, ISO 8601; null without one. */
  readonly triedAt: string | null;
  /** The names of the apps that get only rejections. */
  readonly rejected: readonly string[];
}

/** The silence that the card explains; null without one, or if its cause is known: apps cannot connect. */
export const toIdle = (health: Health, recent: Recent | null, now: number): Idle | null =>
  isShut(health, now) ? null : toSilence(health, recent, now);

/**
 * The silence while no app is served; null while one is, while this instance stops, while calls wait for a slow bank, and
 * while calls are known to fail: by an attempt in the last minute, or without a certificate.
 */
export function toSilence(health: Health, recent: Recent | null, now: number): Idle | null {
  const { details } = health;
  if (recent === null || details.instance) return null;
  const rejected = recent.clients.filter(isRejected);
  const lastCall = Math.max(
    ...recent.clients.filter((client) => !isRejected(client)).map(({ lastAt }) => Date.parse(lastAt)),
  );
  const silentMs = Number.isFinite(lastCall) ? now - lastCall : null;
  if (silentMs !== null && silentMs < MINUTE_MS) return null;
  const { bank } = details;
  const attempts = [bank.lastSuccessAt, bank.lastError?.at].filter((at) => at !== null && at !== undefined);
  const triedAt = attempts.toSorted().at(-1) ?? null;
  const failure = findFailure(toTroubles(health, []));
  // without a certificate, every call fails even before an attempt
  if (failure && (isWithinMinute(triedAt, now) || failure.part === 'certificate')) return null;
  if (toServed(health, now) === 'waiting') return null;
  return { silentMs, triedAt, rejected: rejected.map(({ name }) => toAppName(name)).toSorted() };
}

/** True for what was tried in the last minute, by whomever: the page then shows its result, not that nobody tried. */
export const isWithinMinute = (at: string | null, now: number): boolean =>
  at !== null && now - Date.parse(at) < MINUTE_MS;

/** The sentences of the card. */
export interface IdleText {
  readonly headline: string;
  readonly known: string;
  readonly since: string;
  /** Earlier calls; null if there were none. */
  readonly normal: string | null;
}

export function toIdleText(
  idle: Idle,
  health: Health,
  recent: Recent | null,
  problems: readonly ProblemEntry[],
  now: number,
): IdleText {
  const { silentMs, triedAt, rejected } = idle;
  return {
    headline:
      rejected.length > 0
        ? `${toRejections(rejected)}. ${toOthers(silentMs, recent, now)}`
        : toHeadline(health, recent, silentMs, now),
    known: toKnown(health, triedAt, problems, now),
    since: toSince(health, triedAt, now),
    normal: toNormal(recent, silentMs, now),
  };
}

const MAX_NAMES = 3;

/** "1 app gets only rejections: broken-app". */
export const toRejections = (names: readonly string[]): string =>
  `${names.length === 1 ? '1 app gets' : `${names.length} apps get`} only rejections: ${toNames(names)}`;

/** "No other app has called since 08:28:44." */
function toOthers(silentMs: number | null, recent: Recent | null, now: number): string {
  if (silentMs !== null) return `No other app has called since ${toMoment(now - silentMs, now)}.`;
  const period = isWholeHour(toPoints(recent), now) ? 'in the last hour' : 'since this instance started';
  return `No other app has called ${period}.`;
}

/** "a, b, c and 2 more". */
export function toNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function toHeadline({ status }: Health, recent: Recent | null, silentMs: number | null, now: number): string {
  if (silentMs !== null) return `No app has called for ${toDuration(silentMs)}.`;
  if (isWholeHour(toPoints(recent), now)) return 'No app has called in the last hour.';
  const readyAt = status === 'error' ? null : toReadyAt(recent);
  return `${readyAt === null ? '' : `Ready since ${toMoment(readyAt, now)}. `}No app has called yet.`;
}

/** When this instance had its first list, ms; null while it has none. */
function toReadyAt(recent: Recent | null): number | null {
  const first = toPoints(recent).find(({ snapshotAgeSeconds }) => snapshotAgeSeconds !== null);
  if (!first) return null;
  const readAt = Date.parse(first.at) - (first.snapshotAgeSeconds ?? 0) * 1000;
  // a stored copy is older than this instance
  const started = recent?.events.find(({ event }) => event === 'gateway.started')?.at;
  return Math.max(readAt, started === undefined ? 0 : Date.parse(started));
}

/** The result of the last attempt. */
function toKnown({ details }: Health, triedAt: string | null, problems: readonly ProblemEntry[], now: number): string {
  const { bank, snapshot } = details;
  if (triedAt === null) return 'No list has been read from the bank yet.';
  const at = toMoment(triedAt, now);
  const error = bank.lastError;
  if (error && error.at === triedAt) {
    const title = problems.find(({ code }) => code === error.code)?.title ?? error.code;
    const status = error.status === null || error.status === 200 ? '' : ` with ${error.status}`;
    const what = error.target === 'token' ? 'token request' : 'refresh';
    return `The last ${what}, at ${at}, failed${status}: ${title}.`;
  }
  const count = snapshot.accounts === null ? '' : `: ${toAccounts(snapshot.accounts)}`;
  return `The last refresh, at ${at}, succeeded${count}.`;
}

/** Whether nothing has been tried since, and what the next call gets. */
function toSince({ details }: Health, triedAt: string | null, now: number): string {
  const { snapshot, egress, token, bank } = details;
  const { asOf, expiresAt } = snapshot;
  const hasExpired = token.expiresInSeconds === null && token.lastSuccessAt !== null;
  const isSilent = triedAt !== null && !isWithinMinute(triedAt, now) && (token.lastSuccessAt ?? '') <= triedAt;
  const untried = `${isSilent ? 'Nothing has been tried since. ' : ''}${hasExpired ? 'The token has expired. ' : ''}`;
  if (asOf !== null && expiresAt !== null && Date.parse(expiresAt) > now)
    return `${untried}If the bank fails now, calls get the copy of ${toMoment(asOf, now)} until ${toMoment(expiresAt, now)}.`;
  const lack = expiresAt === null ? 'There is no copy' : `The copy expired at ${toMoment(expiresAt, now)}`;
  const isDown = [egress, token, bank].some(({ status }) => status === 'down');
  // the back-off after a rejection is longer than the minute of silence
  const failsUntil = isDown ? Date.parse(bank.nextAttemptAt ?? '') : NaN;
  const next =
    failsUntil > now ? `calls fail at once until ${toMoment(failsUntil, now)}` : 'the next call waits for the bank';
  return `${untried}${lack}, so ${next}.`;
}

/** Earlier calls, and when they ended; null without any in the last hour. */
function toNormal(recent: Recent | null, silentMs: number | null, now: number): string | null {
  const all = toMinutes(toPoints(recent), now).map(({ requests }) => requests);
  // from the first to the last call, minutes without one included
  const counts = all.slice(all.findIndex(Boolean), all.findLastIndex(Boolean) + 1);
  if (counts.length === 0 || silentMs === null) return null;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const range = least === most ? String(most) : `${least} to ${most}`;
  const calls = range === '1' ? 'was 1 call' : `were ${range} calls`;
  const before = `Before ${toMinute(now - silentMs)} there ${calls} a minute.`;
  const ends = (recent?.clients ?? []).map(({ lastAt }) => Date.parse(lastAt));
  const isSudden = ends.length > 1 && Math.max(...ends) - Math.min(...ends) < MINUTE_MS;
  return isSudden ? `${before} All ${ends.length} apps stopped within a minute.` : before;
}
