import type { GatewayProblem, ProblemEntry, Recent } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { isPast, toDateAndMinute, toMinuteMoment, toMoment } from '../shared/time.js';
import { isRejected, toActive, toSlowText } from './apps.js';
import { findFailure, toCause, toTroubles, type Cause, type Trouble } from './cause.js';
import { isShut, toServed, type Served } from './served.js';

/** Whom to call, and how. */
export interface Who {
  readonly name: string;
  readonly contact: string;
  readonly note: string;
}

/** The contents of the incident card, except the values that tick. */
export interface Incident {
  readonly level: 'warn' | 'bad';
  readonly served: Served | 'unknown';
  readonly headline: string;
  /** True if apps that verify the certificate of this API cannot connect, because it has expired. */
  readonly isShut: boolean;
  readonly cause: Cause;
  /** Status of the calls that fail or will fail. */
  readonly status: number;
  /** The cause's start; while calls fail, not before the copy's end. */
  readonly since: string | null;
  /** End of what apps get now, if it is certain; null otherwise. */
  readonly end: string | null;
  /** The copy that apps get. */
  readonly copy: { readonly asOf: string; readonly expiresAt: string } | null;
  readonly doNow: string;
  /** The request at the end of the report for the contact; null if there is nobody to send it to. */
  readonly request: string | null;
  readonly call: 'bank' | 'network' | null;
  readonly who: Who;
  readonly also: readonly Trouble[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A certificate with less time left may cut the apps off over a weekend. */
const URGENT_MS = 3 * DAY_MS;

/**
 * The incident at `now`, ms of the gateway's clock; null when nothing is wrong. `problems` is the table of /problems, empty if it
 * could not be read. `recent` is the last hour; null on a page that calls for accounts itself.
 */
export function toIncident(
  health: Health,
  now: number,
  problems: readonly ProblemEntry[],
  recent: Recent | null = null,
): Incident | null {
  const served = toServed(health, now);
  const troubles = toTroubles(health, problems);
  const cause = toCause(health, served, troubles, now);
  if (!cause) return null;
  const entry = problems.find(({ code }) => code === cause.code);
  const { asOf, expiresAt, stale } = health.details.snapshot;
  // an empty list is not a failure: calls fail with the failure of the next refresh
  const failure = (served === 'empty' && findFailure(troubles)) || cause;
  const status = toStatus(failure.code, problems);
  // a gateway without any list may have been started after its certificate expired
  const isUnknown = served === 'none' && cause.part === 'certificate' && expiresAt === null;
  const failingSince = served === 'none' ? latest([cause.since, expiresAt], now) : cause.since;
  const since = isUnknown ? null : failingSince;
  const end = toEnd(cause, served, health, findFailure(troubles) !== undefined);
  const cutsOff = cause.part === 'listener' && isShut(health, now);
  const isBad = cutsOff || isUrgent(cause, end, now) || !MILD.has(served);
  const call = toCall(cause, entry);
  return {
    level: isBad ? 'bad' : 'warn',
    served,
    headline: cutsOff
      ? 'Apps that verify the certificate of this API cannot connect: it has expired.'
      : toHeadline({ health, recent, served, cause, status, end, since, now }),
    isShut: cutsOff,
    // the code also covers a certificate that has not expired yet
    cause: cutsOff ? { ...cause, title: 'The certificate of this API has expired' } : cause,
    status,
    since,
    end,
    copy: (served === 'copy' || served === 'empty') && stale && asOf && expiresAt ? { asOf, expiresAt } : null,
    doNow: [
      withDeadline(cause.remedy, toDeadline(cause, end, entry?.heals ?? false, served, health, now)),
      toEvidence(cause, health),
    ]
      .filter(Boolean)
      .join(' '),
    request: call === null ? null : (entry?.request ?? null),
    call,
    who: toWho(cause, call, health),
    also: troubles.filter(({ part }) => part !== cause.part),
  };
}

/** What apps get in an incident while no call fails yet. */
const MILD: ReadonlySet<Served> = new Set(['current', 'copy', 'copies', 'waiting', 'untried']);

/** True if a certificate is about to cut the apps off. */
export const isUrgent = ({ part }: Pick<Trouble, 'part'>, end: string | null, now: number): boolean =>
  (part === 'certificate' || part === 'listener') && end !== null && Date.parse(end) - now < URGENT_MS;

/** The commands that show whether it runs; its own guide, which has them too, does not answer then. */
const RUNS =
  '`systemctl status accounts-gateway`, `docker ps --filter name=gateway` or `kubectl -n accounts-gateway get pods -l app.kubernetes.io/name=accounts-gateway`';

/** The incident while the gateway does not respond to this page. */
export function toGoneIncident(problem: GatewayProblem, since: string, problems: readonly ProblemEntry[]): Incident {
  const known = problems.find(({ code }) => code === problem.code);
  const isAway = problem.status === 0;
  const headline = isAway ? 'The gateway does not answer.' : 'The gateway does not allow this page.';
  return {
    level: 'bad',
    served: 'unknown',
    headline,
    isShut: false,
    cause: {
      part: 'gateway',
      code: problem.code,
      owner: isAway ? 'operator' : problem.owner,
      title: known?.title ?? headline.replace('.', ''),
      detail: isAway
        ? `Not connected since ${toMoment(since, Date.parse(since))}. This page shows nothing newer.`
        : problem.message,
      remedy: known?.remedy ?? '',
      since,
      answer: null,
      attempts: null,
      nextAttemptAt: null,
    },
    status: problem.status,
    since,
    end: null,
    copy: null,
    doNow: isAway
      ? `Check now that the gateway is running, and that this machine can reach it: ${RUNS}.`
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

interface HeadlineFacts extends Pick<Incident, 'cause' | 'status' | 'since' | 'end'> {
  readonly health: Health;
  readonly recent: Recent | null;
  readonly served: Served;
  readonly now: number;
}

/** The sentences on what apps get, and for how long. */
function toHeadline({ health, recent, served, cause, status, end, since, now }: HeadlineFacts): string {
  const { snapshot, token } = health.details;
  const active = toActive(recent);
  const isCalled = recent === null || active.some((client) => !isRejected(client));
  const subject = isCalled ? 'Apps get' : 'A call gets';
  const copy = snapshot.stale && snapshot.asOf !== null ? `the copy of ${toMoment(snapshot.asOf, now)}` : null;
  const fails = end === null ? '' : ` At ${toMoment(end, now)} every call fails.`;
  switch (served) {
    case 'none':
      if (since === null) return `All calls fail with ${status}.`;
      return hasCalled(recent, since)
        ? `All calls have failed with ${status} since ${toMoment(since, now)}.`
        : `All calls fail with ${status}. No app has called ${toPeriod(since, now)}.`;
    case 'waiting':
    case 'untried':
      return 'Calls wait for the bank: no list of accounts is cached.';
    case 'stopping':
      return 'This instance is stopping, and will soon take no calls.';
    case 'empty':
      return copy === null ? `${subject} an empty list of accounts.` : `${subject} an empty list, ${copy}.${fails}`;
    case 'copies':
      return `The bank is slow. ${toSlowText(health, active)}`;
    case 'copy':
      return `${subject} ${copy}.${fails}`;
    case 'current':
      if (cause.part === 'token' && token.willFail) {
        const { currentUntil, copyUntil } = token.willFail;
        return `${subject} current data until ${toMoment(currentUntil, now)}, then the copy until ${toMoment(copyUntil, now)}.`;
      }
      if (cause.part === 'certificate' || cause.part === 'listener')
        return `${subject} current data${toUntil(end, now)}.`;
      return `${subject} current data.${fails}`;
  }
}

/** True if an app has called since then, and its calls were not all rejected. */
const hasCalled = (recent: Recent | null, since: string): boolean =>
  recent?.clients.some((client) => !isRejected(client) && Date.parse(client.lastAt) >= Date.parse(since)) ?? true;

/** The callers of the last hour are known. */
const toPeriod = (since: string, now: number): string =>
  now - Date.parse(since) < HOUR_MS ? `since ${toMoment(since, now)}` : 'in the last hour';

function toUntil(end: string | null, now: number): string {
  if (end === null || Date.parse(end) <= now) return '';
  return Date.parse(end) - now > DAY_MS ? ` until ${toDateAndMinute(end)} UTC` : ` until ${toMinuteMoment(end, now)}`;
}

/** Time at which what apps get now ends if nobody acts; null if it is uncertain. */
function toEnd({ part, code }: Cause, served: Served, { details }: Health, isFailing: boolean): string | null {
  const { certificate, token, snapshot, listener } = details;
  if (part === 'listener') return listener?.notAfter ?? null;
  if (served === 'copy' || (served === 'empty' && snapshot.stale)) return isFailing ? snapshot.expiresAt : null;
  if (served !== 'current') return null;
  if (part === 'certificate') return code === 'certificate-expiring' ? certificate.notAfter : null;
  if (part === 'token') return token.willFail?.currentUntil ?? null;
  return part === 'bank' && isFailing ? snapshot.expiresAt : null;
}

/**
 * The deadline for the advice, in words: "before 06:08", "now", or nothing. A cause that may go away by itself leaves
 * time until half of the copy's life has passed; the other half is for the repair.
 */
function toDeadline(
  { part }: Cause,
  end: string | null,
  heals: boolean,
  served: Served,
  { details }: Health,
  now: number,
): string {
  if (part !== 'listener' && !['current', 'copy', 'copies'].includes(served)) return 'now';
  if (end !== null && (part === 'certificate' || part === 'listener')) {
    const endsAt = Date.parse(end);
    if (endsAt - now > DAY_MS) return `before ${toDateAndMinute(end)} UTC`;
    const due = Math.floor(endsAt / MINUTE_MS) * MINUTE_MS;
    return due > now ? `before ${toMinuteMoment(due, now)}` : 'now';
  }
  if (!heals) return 'now';
  const { asOf, expiresAt } = details.snapshot;
  if (end === null || end !== expiresAt || asOf === null) return '';
  const [from, to] = [Date.parse(asOf), Date.parse(end)];
  const halfway = Math.ceil((from + (to - from) / 2) / MINUTE_MS) * MINUTE_MS;
  return halfway > now && halfway < to ? `before ${toMinuteMoment(halfway, now)}` : 'now';
}

/** The remedy with its deadline at the end of its first sentence. */
const withDeadline = (remedy: string, deadline: string): string =>
  deadline === '' ? remedy : remedy.replace(/\.(?= |$)/, ` ${deadline}.`);

/** The hops in order, with their names in /health and in words. */
const HOPS = [
  ['certificate', 'certificate'],
  ['egress', 'network'],
  ['token', 'token service'],
  ['bank', 'account list'],
] as const;

/** The bank must act on these, unless a setting or a program of ours is the cause. */
const MAY_BE_OURS: ReadonlySet<string> = new Set(['access-not-granted', 'bank-rate-limited', 'bank-response-invalid']);

/** Evidence that the bank must act: the working hops before the broken one. Empty if the cause may be on our side. */
function toEvidence({ part, code, owner }: Cause, { details }: Health): string {
  if (owner !== 'bank' || MAY_BE_OURS.has(code)) return '';
  const at = HOPS.findIndex(([name]) => name === part);
  const before = HOPS.slice(0, at === -1 ? HOPS.length : at);
  const works = before.filter(([name]) => details[name].status === 'up').map(([, name]) => name);
  if (works.length === 0) return '';
  const list = works.length === 1 ? works[0] : `${works.slice(0, -1).join(', ')} and ${works.at(-1)}`;
  return `The cause is not on our side: ${list} ${works.length === 1 ? 'is' : 'are'} healthy.`;
}

/** The recipient of the report; null without a request, or if the operator must act instead of the network team. */
function toCall({ owner }: Cause, entry: ProblemEntry | undefined): Incident['call'] {
  if (!entry?.request) return null;
  if (entry.owner !== 'network') return 'bank';
  return owner === 'operator' ? null : 'network';
}

const OWNERS: Readonly<Record<string, string>> = {
  bank: 'The bank',
  network: 'The network team',
  operator: 'The operator of this gateway',
  caller: 'The person who opened this page',
};

const SET_SUPPORT = 'Set BANK_SUPPORT to show its contact.';

function toWho({ part, owner }: Cause, call: Incident['call'], { details }: Health): Who {
  const { bank, egress } = details;
  const isBankCalled = call === 'bank';
  // the bank may have rejected us: then its allowlist may be the cause
  const isRejected = isBankCalled && owner === 'operator';
  const address = egress.publicAddress
    ? `The bank sees us as ${egress.publicAddress}.`
    : 'Set EGRESS_PUBLIC_ADDRESS to show our address.';
  return {
    name: isRejected ? 'The operator, with the bank' : (OWNERS[owner] ?? owner),
    contact:
      isBankCalled || part === 'certificate' ? `${isBankCalled ? '' : 'The bank: '}${bank.support ?? SET_SUPPORT}` : '',
    note: isRejected ? address : '',
  };
}

/** The status of failing calls. A call that waits for a slow bank ends with bank-timeout. */
function toStatus(code: string, problems: readonly ProblemEntry[]): number {
  if (code === 'bank-slow') return 504;
  return problems.find((each) => each.code === code)?.status ?? 503;
}

/** The latest of these times that is in the past; null without one. */
function latest(moments: readonly (string | null)[], now: number): string | null {
  const past = moments.filter((moment) => moment !== null).filter((moment) => isPast(moment, now));
  return past.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1) ?? null;
}
