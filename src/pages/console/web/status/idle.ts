import { toAccounts } from '../shared/count.js';
import { toPoints, type ProblemEntry, type Recent } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { toDuration, toMinute, toMoment } from '../shared/time.js';
import { findFailure, toTroubles } from './cause.js';
import { isWholeHour, toMinutes } from './minutes.js';
import { isShut, toServed } from './served.js';

const SILENT_MS = 60_000;

/** A gateway that no app calls and that has not called the bank for a minute. */
export interface Idle {
  /** Time since the last call by an app; null if there was none in the last hour. */
  readonly silentMs: number | null;
  /** The last attempt to read the list, ISO 8601; null without one. */
  readonly triedAt: string | null;
}

/** The silence that the card explains; null without one, or if its cause is known: apps cannot connect. */
export const toIdle = (health: Health, recent: Recent | null, now: number): Idle | null =>
  isShut(health, now) ? null : toSilence(health, recent, now);

/**
 * The known state while nobody calls; null while somebody does, or while an attempt in the last minute shows that calls
 * fail.
 */
export function toSilence(health: Health, recent: Recent | null, now: number): Idle | null {
  const { details } = health;
  if (recent === null || details.instance) return null;
  const lastCall = Math.max(...recent.clients.map(({ lastAt }) => Date.parse(lastAt)));
  const silentMs = Number.isFinite(lastCall) ? now - lastCall : null;
  if (silentMs !== null && silentMs < SILENT_MS) return null;
  const { bank } = details;
  const attempts = [bank.lastSuccessAt, bank.lastError?.at].filter((at) => at !== null && at !== undefined);
  const triedAt = attempts.toSorted().at(-1) ?? null;
  const failure = findFailure(toTroubles(health, []));
  const isKnown = triedAt !== null && now - Date.parse(triedAt) < SILENT_MS;
  // without a certificate, every call fails even before an attempt
  if (failure && (isKnown || failure.part === 'certificate')) return null;
  // while the first list is being read, calls wait
  if (toServed(health, now) === 'waiting') return null;
  return { silentMs, triedAt };
}

/** The sentences of the card. */
export interface IdleText {
  readonly headline: string;
  readonly known: string;
  readonly since: string;
  readonly normal: string;
}

export function toIdleText(
  idle: Idle,
  health: Health,
  recent: Recent | null,
  problems: readonly ProblemEntry[],
  now: number,
): IdleText {
  const { silentMs, triedAt } = idle;
  return {
    headline: toHeadline(recent, silentMs, now),
    known: toKnown(health, triedAt, problems, now),
    since: toSince(health, triedAt, now),
    normal: toNormal(recent, silentMs, now),
  };
}

function toHeadline(recent: Recent | null, silentMs: number | null, now: number): string {
  if (silentMs !== null) return `No app has called for ${toDuration(silentMs)}.`;
  return isWholeHour(toPoints(recent), now)
    ? 'No app has called in the last hour.'
    : 'No app has called since this instance started.';
}

/** The result of the last attempt. */
function toKnown({ details }: Health, triedAt: string | null, problems: readonly ProblemEntry[], now: number): string {
  const { bank, snapshot } = details;
  if (triedAt === null) return 'No list of accounts has been read yet.';
  const at = toMoment(triedAt, now);
  const error = bank.lastError;
  if (error && error.at === triedAt) {
    const entry = problems.find(({ code }) => code === error.code);
    const status = entry?.status ? ` with ${entry.status}` : '';
    return `The last refresh, at ${at}, failed${status}: ${entry?.title ?? error.code}.`;
  }
  const count = snapshot.accounts === null ? '' : `: ${toAccounts(snapshot.accounts)}`;
  return `The last refresh, at ${at}, succeeded${count}.`;
}

/** What nobody has tried since, and what the next call gets from the copy. */
function toSince({ details }: Health, triedAt: string | null, now: number): string {
  const { snapshot, token } = details;
  const { asOf, expiresAt } = snapshot;
  const hasExpired = token.expiresInSeconds === null && token.lastSuccessAt !== null;
  const untried = `${triedAt === null ? '' : 'Nothing has been tried since. '}${hasExpired ? 'The token has expired. ' : ''}`;
  if (asOf === null || expiresAt === null) return `${untried}The next call waits for the bank.`;
  if (Date.parse(expiresAt) <= now)
    return `${untried}The copy expired at ${toMoment(expiresAt, now)}, so the next call waits for the bank.`;
  return `${untried}If the bank fails now, calls get the copy of ${toMoment(asOf, now)} until ${toMoment(expiresAt, now)}.`;
}

/** Earlier calls, and when they ended. */
function toNormal(recent: Recent | null, silentMs: number | null, now: number): string {
  const counts = toMinutes(toPoints(recent), now)
    .map(({ requests }) => requests)
    .filter((count) => count > 0);
  if (counts.length === 0 || silentMs === null) {
    return isWholeHour(toPoints(recent), now)
      ? 'There were no calls in the last hour.'
      : 'Calls before the start of this instance are not recorded.';
  }
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const range = least === most ? String(most) : `${least} to ${most}`;
  const before = `Before ${toMinute(now - silentMs)} there were ${range} ${most === 1 ? 'call' : 'calls'} a minute.`;
  const ends = (recent?.clients ?? []).map(({ lastAt }) => Date.parse(lastAt));
  const isSudden = ends.length > 1 && Math.max(...ends) - Math.min(...ends) < SILENT_MS;
  return isSudden ? `${before} All ${ends.length} apps stopped within the same minute.` : before;
}
