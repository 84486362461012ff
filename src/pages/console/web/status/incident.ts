import type { GatewayProblem, ProblemEntry } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { isPast, toClock } from '../shared/time.js';
import { toAdvice } from './advice.js';
import { findFailure, toCause, toTroubles, type Cause, type Trouble } from './cause.js';
import { toDeadline, toEnd } from './deadline.js';
import { toEvidence } from './evidence.js';
import { toHeadline } from './headline.js';
import { toServed, type Served } from './served.js';

/** Whom to call, and how. */
export interface Who {
  readonly name: string;
  readonly contact: string;
  readonly note: string;
}

/** Everything that the card shows about an incident, except the values that tick. */
export interface Incident {
  readonly level: 'warn' | 'bad';
  readonly served: Served | 'unknown';
  readonly headline: string;
  readonly cause: Cause;
  /** The status of the calls that fail, or will. */
  readonly status: number;
  /** True where calls will wait for a slow bank, which may still answer. */
  readonly waits: boolean;
  /** When calls began to fail: the later of the cause's start and the end of the copy. */
  readonly since: string | null;
  /** When calls begin to fail; null if they already fail, or will not. */
  readonly end: string | null;
  /** The copy that apps get. */
  readonly copy: { readonly asOf: string; readonly expiresAt: string } | null;
  readonly doNow: string;
  /** The request at the end of the report for whoever is called; null where there is nobody to send it to. */
  readonly request: string | null;
  readonly call: 'bank' | 'network' | null;
  readonly who: Who;
  readonly also: readonly Trouble[];
}

/**
 * The incident at `now`; null when all is well.
 * @param now ms of the gateway's clock, like `answeredAt`, when /health answered
 */
export function toIncident(
  health: Health,
  now: number,
  problems: readonly ProblemEntry[],
  answeredAt = now,
): Incident | null {
  const served = toServed(health, now);
  const troubles = toTroubles(health, problems);
  const cause = toCause(health, served, troubles, now, answeredAt);
  if (!cause) return null;
  const { asOf, expiresAt, stale } = health.details.snapshot;
  const advice = toAdvice(cause);
  // an empty list is no failure: calls fail with that of the next refresh
  const failure = (served === 'empty' && findFailure(troubles)) || cause;
  const status = toStatus(failure, problems);
  const waits = failure.code === 'bank-slow';
  const since = served === 'none' ? latest([cause.since, expiresAt], now) : cause.since;
  const end = toEnd(cause, served, health, answeredAt);
  const deadline = toDeadline(end, advice, served, health, now);
  const order = advice.text.replace(/ \{when\}/, deadline && ` ${deadline}`);
  const isServed = served === 'copy' || served === 'empty';
  const isShut = cause.part === 'listener' && end !== null && Date.parse(end) <= now;
  return {
    level: (served === 'current' && !isShut) || served === 'copy' || served === 'waiting' ? 'warn' : 'bad',
    served,
    headline: toHeadline({ health, served, cause, status, waits, end, since, now }),
    cause,
    status,
    waits,
    since,
    end,
    copy: isServed && stale && asOf !== null && expiresAt !== null ? { asOf, expiresAt } : null,
    doNow: [order, toEvidence(cause, health)].filter(Boolean).join(' '),
    request: advice.request ?? null,
    call: advice.call ?? null,
    who: toWho(cause, advice, health),
    also: troubles.filter(({ part }) => part !== cause.part),
  };
}

/** The incident of a gateway that gives this page no answer. */
export function toGoneIncident(problem: GatewayProblem, since: string, problems: readonly ProblemEntry[]): Incident {
  const known = problems.find(({ code }) => code === problem.code);
  const isAway = problem.status === 0;
  const headline = isAway ? 'The gateway does not answer.' : 'The gateway does not allow this page.';
  return {
    level: 'bad',
    served: 'unknown',
    headline,
    cause: {
      part: 'gateway',
      code: problem.code,
      owner: isAway ? 'operator' : problem.owner,
      title: known?.title ?? headline.replace('.', ''),
      detail: isAway ? `Not connected since ${toClock(since)}. This page shows earlier data.` : problem.message,
      since,
      attempts: null,
      nextAttemptAt: null,
    },
    status: problem.status,
    waits: false,
    since,
    end: null,
    copy: null,
    doNow: isAway
      ? 'Check now that the gateway is running, and that this machine can reach it.'
      : (known?.remedy ?? 'Open this page from a machine that may call the gateway.'),
    request: null,
    call: null,
    who: {
      name: 'The operator of this gateway',
      contact: '',
      note: 'Or the team that runs the network between this page and the gateway.',
    },
    also: [],
  };
}

const OWNERS: Readonly<Record<string, string>> = {
  bank: 'The bank',
  network: 'The network team',
  operator: 'The operator of this gateway',
  caller: 'The person who opened this page',
};

function toWho({ owner }: Cause, { call, allowlist }: ReturnType<typeof toAdvice>, { details }: Health): Who {
  const { bank, egress } = details;
  const isBankCalled = call === 'bank';
  const address = egress.publicAddress
    ? `The bank sees us as ${egress.publicAddress}.`
    : 'Set EGRESS_PUBLIC_ADDRESS to show our address.';
  const desk = bank.support ?? 'Set BANK_SUPPORT to show its contact.';
  return {
    name:
      isBankCalled && owner === 'operator' ? 'The operator of this gateway, with the bank' : (OWNERS[owner] ?? owner),
    contact: isBankCalled ? desk : '',
    note: allowlist ? address : '',
  };
}

/** The status of calls that fail. A call that waits for a slow bank ends with bank-timeout. */
function toStatus({ code }: Pick<Trouble, 'code'>, problems: readonly ProblemEntry[]): number {
  if (code === 'bank-slow') return 504;
  return problems.find((each) => each.code === code)?.status ?? 503;
}

/** The latest of these moments that are in the past; null if there is none. */
function latest(moments: readonly (string | null)[], now: number): string | null {
  const past = moments.filter((moment) => moment !== null).filter((moment) => isPast(moment, now));
  return past.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1) ?? null;
}
