import type { Health } from '../shared/health.js';
import type { ProblemEntry } from '../shared/gateway.js';
import { isPast } from '../shared/time.js';
import { toEnd } from './deadline.js';
import type { Served } from './served.js';

/** A problem of a component. */
export interface Trouble {
  /** The component, as /health names it. */
  readonly part: string;
  readonly code: string;
  readonly owner: string;
  readonly title: string;
  readonly detail: string;
}

/** The problem that explains what apps get. */
export interface Cause extends Trouble {
  readonly since: string | null;
  /** Failed attempts since then; null where nothing is retried. */
  readonly attempts: number | null;
  readonly nextAttemptAt: string | null;
}

/** The problems, most important first as /health has them; one that shows in several components once, at the hop that causes it. */
export function toTroubles(health: Health, problems: readonly ProblemEntry[]): Trouble[] {
  const troubles: Trouble[] = [];
  const isUnhealthy = (found?: { readonly status: string }) => found?.status === 'down' || found?.status === 'degraded';
  const parts = Object.entries(health.details).filter(([, found]) => isUnhealthy(found));
  for (const [part, found] of parts) {
    const { code = 'internal-error', owner = 'operator', detail = '' } = found as Partial<Trouble>;
    troubles.push({ part, code, owner, detail, title: problems.find((each) => each.code === code)?.title ?? code });
  }
  // the snapshot repeats the cause of another component
  return troubles.filter(
    ({ part, code }) => part !== 'snapshot' || !troubles.some((each) => each.part !== part && each.code === code),
  );
}

/** The failure that keeps new data away: of the certificate, or on the way to the bank. */
export const findFailure = (troubles: readonly Trouble[]): Trouble | undefined =>
  troubles.find(({ part, code }) => ON_WAY.has(part) || (part === 'certificate' && code === 'certificate-unusable'));

/** The hops that the failure series of /health covers. */
const ON_WAY: ReadonlySet<string> = new Set(['egress', 'token', 'bank']);

/**
 * The trouble behind what apps get; null when all is well. While apps get current data, it is the one that ends that first.
 * @param answeredAt when /health answered, ms of the gateway's clock
 */
export function toCause(
  health: Health,
  served: Served,
  troubles: readonly Trouble[],
  now: number,
  answeredAt: number,
): Cause | null {
  const causes = troubles.map((trouble) => ({ ...trouble, ...toSeries(trouble, health, now) }));
  const wanted = toWanted(served, health.details.snapshot.code, troubles);
  const endOf = (cause: Cause) => Date.parse(toEnd(cause, served, health, answeredAt) ?? NEVER);
  return causes.find(({ code }) => code === wanted) ?? causes.toSorted((a, b) => endOf(a) - endOf(b))[0] ?? null;
}

const NEVER = '9999-12-31';

/** The code of the trouble that decides what apps get; undefined while that is current data. */
function toWanted(served: Served, code: string | undefined, troubles: readonly Trouble[]): string | undefined {
  if (served === 'current') return undefined;
  if (served === 'stopping') return 'stopping';
  // an empty list whose copy has expired is no longer what apps get
  return served !== 'empty' && code === 'accounts-emptied' ? findFailure(troubles)?.code : code;
}

const NOT_RETRIED = { since: null, attempts: null, nextAttemptAt: null };

/** When it began, and what the gateway does about it. */
function toSeries(
  { part, code }: Trouble,
  { details: { bank, certificate } }: Health,
  now: number,
): Pick<Cause, 'since' | 'attempts' | 'nextAttemptAt'> {
  if (part === 'certificate') {
    const hasExpired = code === 'certificate-unusable' && isPast(certificate.notAfter, now);
    return { ...NOT_RETRIED, since: hasExpired ? certificate.notAfter : (certificate.next?.since ?? null) };
  }
  if (!ON_WAY.has(part)) return NOT_RETRIED;
  const { failingSince, attempts, nextAttemptAt } = bank;
  return code === 'bank-slow'
    ? { ...NOT_RETRIED, since: failingSince }
    : { since: failingSince, attempts, nextAttemptAt };
}
