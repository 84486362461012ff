import type { Health } from '../shared/health.js';
import type { ProblemEntry } from '../shared/gateway.js';
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

/** The trouble behind what apps get; null when all is well. */
export function toCause(health: Health, served: Served, problems: readonly ProblemEntry[]): Cause | null {
  const troubles = toTroubles(health, problems);
  const { snapshot } = health.details;
  const servedBecauseOf = served === 'current' ? null : snapshot.code;
  const wanted = served === 'empty' ? 'accounts-emptied' : servedBecauseOf;
  const trouble = troubles.find(({ code }) => code === wanted) ?? troubles[0];
  if (served === 'empty' && trouble?.code !== 'accounts-emptied') return { ...emptied(problems), ...NOT_RETRIED };
  return trouble ? { ...trouble, ...toSeries(trouble, health) } : null;
}

const NOT_RETRIED = { since: null, attempts: null, nextAttemptAt: null };

/** An empty list that is served stale has the cause of the failing refresh in /health. */
const emptied = (problems: readonly ProblemEntry[]): Trouble => ({
  part: 'snapshot',
  code: 'accounts-emptied',
  owner: 'bank',
  detail: 'The bank lists no accounts.',
  title: problems.find(({ code }) => code === 'accounts-emptied')?.title ?? 'accounts-emptied',
});

/** When it began, and what the gateway does about it. */
function toSeries(
  { part, code }: Trouble,
  { details: { bank, certificate } }: Health,
): typeof NOT_RETRIED | Pick<Cause, 'since' | 'attempts' | 'nextAttemptAt'> {
  if (code === 'certificate-unusable') return { ...NOT_RETRIED, since: certificate.notAfter };
  if (part === 'certificate') return { ...NOT_RETRIED, since: certificate.refused?.at ?? null };
  const isOnPath = part === 'egress' || part === 'token' || part === 'bank';
  if (!isOnPath || code === 'bank-slow') return NOT_RETRIED;
  const { failingSince, attempts, nextAttemptAt } = bank;
  return { since: failingSince, attempts, nextAttemptAt };
}
