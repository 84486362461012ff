import type { ProblemEntry } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { isPast } from '../shared/time.js';
import type { Served } from './served.js';

/** A problem of a component. */
export interface Trouble {
  /** The component, by its name in /health. */
  readonly part: string;
  readonly code: string;
  readonly owner: string;
  readonly title: string;
  readonly detail: string;
  readonly remedy: string;
}

/** The problem that explains what apps get. */
export interface Cause extends Trouble {
  readonly since: string | null;
  /** HTTP status of the bank's response; null without one. */
  readonly answer: number | null;
  /** Failed attempts since then; null if nothing is retried. */
  readonly attempts: number | null;
  readonly nextAttemptAt: string | null;
}

/**
 * The problems, in the order of /health. The snapshot's is left out if another component has the same code.
 */
export function toTroubles({ details }: Health, problems: readonly ProblemEntry[]): Trouble[] {
  const troubles = Object.entries(details).flatMap(([part, found]) => {
    const {
      status,
      code,
      owner = 'operator',
      detail = '',
      remedy = '',
    } = found as Partial<Trouble> & { status: string };
    if ((status !== 'down' && status !== 'degraded') || code === undefined) return [];
    return [{ part, code, owner, detail, remedy, title: problems.find((each) => each.code === code)?.title ?? code }];
  });
  return troubles.filter(
    ({ part, code }) => part !== 'snapshot' || !troubles.some((each) => each.part !== part && each.code === code),
  );
}

/** The hops of a call on its way to the bank. */
const ON_WAY: ReadonlySet<string> = new Set(['egress', 'token', 'bank']);
/** States of the bank in which calls to it succeed. */
const SUCCEEDS: ReadonlySet<string> = new Set(['clock-skewed', 'bank-slow']);

/** The failure that blocks new data: of the certificate, or on the way to the bank. */
export const findFailure = (troubles: readonly Trouble[]): Trouble | undefined =>
  troubles.find(
    ({ part, code }) =>
      (ON_WAY.has(part) && !SUCCEEDS.has(code)) || (part === 'certificate' && code === 'certificate-unusable'),
  );

/**
 * The trouble that explains what apps get; null without one. While apps get current data, it is the trouble that will
 * end that first.
 */
export function toCause(health: Health, served: Served, troubles: readonly Trouble[], now: number): Cause | null {
  const found = findWanted(served, troubles) ?? earliest(troubles, health);
  return found ? { ...found, ...toSeries(found, health, now) } : null;
}

function findWanted(served: Served, troubles: readonly Trouble[]): Trouble | undefined {
  if (served === 'stopping') return troubles.find(({ code }) => code === 'stopping');
  if (served === 'empty') return troubles.find(({ code }) => code === 'accounts-emptied');
  if (served === 'current') return undefined;
  if (served === 'copies') return troubles.find(({ code }) => code === 'bank-slow');
  return findFailure(troubles) ?? troubles.find(({ code }) => code === 'bank-slow');
}

/** The trouble that cuts off the apps first. */
function earliest(troubles: readonly Trouble[], { details }: Health): Trouble | undefined {
  const { certificate, token, snapshot, listener } = details;
  const endOf = ({ part, code }: Trouble): number => {
    if (part === 'listener') return Date.parse(listener?.notAfter ?? '');
    if (part === 'certificate') return Date.parse(certificate.notAfter);
    if (part === 'token') return Date.parse(token.willFail?.currentUntil ?? snapshot.expiresAt ?? '');
    return ON_WAY.has(part) && !SUCCEEDS.has(code) ? Date.parse(snapshot.expiresAt ?? '') : Infinity;
  };
  return troubles.toSorted((a, b) => endOf(a) - endOf(b))[0];
}

const NOT_RETRIED = { since: null, answer: null, attempts: null, nextAttemptAt: null };

/** Start, the bank's status, and the gateway's retries, of the failing request. */
function toSeries({ part, code }: Trouble, { details }: Health, now: number): Omit<Cause, keyof Trouble> {
  const { bank, certificate, token } = details;
  if (part === 'certificate') {
    const hasExpired = code === 'certificate-unusable' && isPast(certificate.notAfter, now);
    return { ...NOT_RETRIED, since: hasExpired ? certificate.notAfter : null };
  }
  if (code === 'bank-slow') return { ...NOT_RETRIED, since: bank.slow?.since ?? null };
  if (!ON_WAY.has(part) || SUCCEEDS.has(code)) return NOT_RETRIED;
  const { attempts, nextAttemptAt } = bank;
  if (part === 'token')
    return { since: token.failingSince, answer: token.lastError?.status ?? null, attempts, nextAttemptAt };
  const ofList = bank.lastError?.target === 'accounts' ? bank.lastError.status : null;
  return part === 'bank'
    ? { since: bank.listFailingSince, answer: ofList, attempts, nextAttemptAt }
    : { since: bank.failingSince, answer: null, attempts, nextAttemptAt };
}
