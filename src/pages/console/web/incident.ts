import type { GatewayProblem, ProblemEntry } from './gateway.js';
import { toTroubles, type Health, type Trouble } from './health.js';
import { toAgeInWords, toClock } from './time.js';

/** Content of the incident card. */
export interface Incident {
  readonly level: 'warn' | 'bad';
  readonly served: Served | 'unknown';
  /** The impact on apps, in a sentence. */
  readonly impact: string;
  /** The same without times that change each second. */
  readonly announced: string;
  readonly title: string;
  readonly trouble: Trouble;
  readonly also: readonly Trouble[];
  readonly since: string | null;
  readonly nextAttemptAt: string | null;
  readonly attempts: number | null;
  /** The snapshot that apps still get; null when they get none, or a fresh one. */
  readonly copy: { readonly asOf: string; readonly expiresAt: string | null } | null;
}

/** The incident at this moment (ms of the gateway's clock); null when all is well. */
export function toIncident(health: Health, now: number, problems: readonly ProblemEntry[]): Incident | null {
  const [trouble, ...also] = toTroubles(health);
  if (!trouble) return null;
  const { bank, snapshot } = health.details;
  const known = problems.find(({ code }) => code === trouble.code);
  const since = bank.failingSince ?? null;
  const served = toServed(health, now);
  const sentences: Readonly<Record<Served, string>> = {
    none: `All calls fail with ${known?.status ?? 503}${toSince(snapshot.expiresAt ?? since, now)}.`,
    stale: `Your apps still get data, ${toAgeInWords(now - Date.parse(snapshot.asOf ?? ''))} old.`,
    empty: 'Your apps get an empty list of accounts.',
    fresh: 'Your apps get current data.',
  };
  return {
    level: served === 'none' || served === 'empty' ? 'bad' : 'warn',
    served,
    impact: sentences[served],
    announced: served === 'stale' ? 'Your apps still get data, which is old.' : sentences[served],
    title: known?.title ?? trouble.code,
    trouble: { ...trouble, remedy: trouble.remedy || (known?.remedy ?? '') },
    also,
    since,
    nextAttemptAt: bank.nextAttemptAt ?? null,
    attempts: bank.attempts ?? null,
    copy: served === 'stale' && snapshot.asOf ? { asOf: snapshot.asOf, expiresAt: snapshot.expiresAt ?? null } : null,
  };
}

/** The incident of a gateway that this page gets no answer of. */
export function toGoneIncident(problem: GatewayProblem, since: string, problems: readonly ProblemEntry[]): Incident {
  const known = problems.find(({ code }) => code === problem.code);
  const away = problem.status === 0;
  const impact = away ? 'The gateway does not answer.' : 'The gateway refuses this page.';
  return {
    level: 'bad',
    served: 'unknown',
    impact,
    announced: impact,
    title: away
      ? `Not connected since ${toClock(since)}. The page shows the last data it received.`
      : (known?.title ?? problem.message),
    trouble: {
      part: 'gateway',
      level: 'bad',
      code: problem.code,
      owner: away ? 'operator' : problem.owner,
      detail: away ? '' : problem.message,
      remedy: away
        ? 'Check that the gateway runs and that this machine reaches it. The page retries.'
        : (known?.remedy ?? ''),
    },
    also: [],
    since: null,
    nextAttemptAt: null,
    attempts: null,
    copy: null,
  };
}

export type Served = 'fresh' | 'stale' | 'empty' | 'none';

/** The impact on apps now. The end of a copy is known before /health is asked again. */
export function toServed({ status, details: { snapshot } }: Health, now: number): Served {
  const expired = snapshot.expiresAt ? Date.parse(snapshot.expiresAt) <= now : false;
  if (status === 'error' || (snapshot.stale && expired)) return 'none';
  if (snapshot.stale) return 'stale';
  return snapshot.accounts === 0 && snapshot.status !== 'up' ? 'empty' : 'fresh';
}

const toSince = (instant: string | null, now: number): string =>
  instant && Date.parse(instant) <= now ? ` since ${toClock(instant)}` : '';
