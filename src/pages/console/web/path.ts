import type { Recent } from './gateway.js';
import { toServed, type Served } from './incident.js';
import type { Health, Status } from './health.js';
import { toClock, toCountdown } from './time.js';

export type Level = 'ok' | 'warn' | 'bad' | 'unknown';

/** A stage of the path from the bank to the apps. */
export interface Hop {
  readonly name: string;
  readonly level: Level;
  readonly value: string;
  /** Details for a tooltip. */
  readonly title?: string;
}

const LEVELS: Readonly<Record<Status, Level>> = { up: 'ok', degraded: 'warn', down: 'bad', unknown: 'unknown' };
const NOT_CHECKED = 'not checked';
const NOT_TRIED = { status: 'unknown' } as const;

/** The stages in order; each depends on the one before. A stage that was not tried is "not checked". */
export function toPath(health: Health, recent: Recent | null, now: number): Hop[] {
  const { certificate, egress, token, bank, snapshot } = health.details;
  // the network is shown as broken, whichever call noticed it
  const cut = [token, bank].find(({ owner }) => owner === 'network');
  let broken = false;
  const hop = (name: string, part: { status: Status; code?: string }, value: string, title?: string): Hop => {
    const level = broken && part.status !== 'down' ? 'unknown' : LEVELS[part.status];
    broken ||= level === 'bad' || part === cut;
    if (level === 'unknown') return { name, level, value: NOT_CHECKED };
    return { name, level, value: level === 'ok' ? value : (part.code ?? value), ...(title && { title }) };
  };
  const { daysLeft, notAfter } = certificate;
  const life = (daysLeft ?? 0) > 0 ? `${daysLeft} ${daysLeft === 1 ? 'day' : 'days'} left` : 'expired';
  const left = token.expiresInSeconds;
  const hops = [
    hop(
      'Certificate',
      { status: certificate.status },
      life,
      notAfter ? `Valid to ${notAfter.slice(0, 10)}` : undefined,
    ),
    hop('Network', cut ?? egress, toRoute(egress.route), egress.route ?? undefined),
    hop(
      'Token service',
      token === cut ? NOT_TRIED : token,
      'token valid',
      left ? `Expired in ${toCountdown(left)}, renewed before that` : undefined,
    ),
    hop('Account list', bank === cut ? NOT_TRIED : bank, toBankValue(health, recent)),
  ];
  return [...hops, toSnapshotHop(snapshot), toAppsHop(health, recent, now)];
}

function toRoute(route: string | null | undefined): string {
  if (!route || route === 'direct') return 'direct';
  return route.replace(/^(?:direct|proxy) /, '').replace(/^https?:\/\//, '');
}

function toBankValue({ details: { bank } }: Health, recent: Recent | null): string {
  if (bank.status !== 'up') return bank.code ?? 'failing';
  const point = recent?.points.findLast(({ bankP50Ms }) => bankP50Ms !== null);
  return point ? `answers in ${Math.round(point.bankP50Ms ?? 0)} ms` : 'answers';
}

function toSnapshotHop({ status, asOf, accounts, stale, code }: Health['details']['snapshot']): Hop {
  const name = 'Snapshot';
  if (asOf === null) return { name, level: 'unknown', value: 'none' };
  if (status === 'down') return { name, level: 'bad', value: `of ${toClock(asOf)}, expired` };
  if (stale) return { name, level: LEVELS[status], value: `of ${toClock(asOf)}, stale` };
  const value = `${accounts} ${accounts === 1 ? 'account' : 'accounts'}`;
  return { name, level: LEVELS[status], value: status === 'up' ? value : (code ?? value) };
}

const RATE_SECONDS = 60;
const SERVED: Partial<Record<Served, string>> = { none: 'calls fail', empty: 'empty list' };

function toAppsHop(health: Health, recent: Recent | null, now: number): Hop {
  const served = toServed(health, now);
  const level = ({ fresh: 'ok', stale: 'warn', empty: 'bad', none: 'bad' } as const)[served];
  const points = recent?.points.slice(-RATE_SECONDS / (recent.everySeconds || 10)) ?? [];
  const requests = points.reduce((sum, point) => sum + point.requests, 0);
  const p99 = Math.max(...points.map(({ p99Ms }) => p99Ms ?? 0));
  const rate = requests / (points.length * (recent?.everySeconds ?? 10));
  const busy = requests > 0 ? `${rate.toPrecision(2)} req/s, p99 ${Math.ceil(p99)} ms` : 'no calls';
  return { name: 'Your apps', level, value: SERVED[served] ?? busy };
}
