import type { Recent } from '../shared/gateway.js';
import type { Health, Status } from '../shared/health.js';
import type { Level } from '../shared/level.js';
import { toClock } from '../shared/time.js';
import { toActive, toSubject } from './apps.js';
import { toShortCause } from './cause-text.js';
import { toServed, type Served } from './served.js';

/** A stage of the path from the bank to the apps. */
export interface Hop {
  readonly name: string;
  readonly level: Level;
  readonly value: string;
}

const LEVELS: Readonly<Record<Status, Level>> = { up: 'ok', degraded: 'warn', down: 'bad', unknown: 'unknown' };
const NOT_CHECKED = 'not checked';
const NAMES = ['Certificate', 'Network', 'Token service', 'Account list', 'Snapshot', 'Your apps'] as const;

/** The stages while the gateway gives no answer. */
export const UNCHECKED: readonly Hop[] = NAMES.map((name) => ({ name, level: 'unknown', value: NOT_CHECKED }));

/** The stages in order; each depends on the one before. A stage after the broken one is "not checked". */
export function toPath(health: Health, recent: Recent | null, now: number): Hop[] {
  const { certificate, egress, token, bank, snapshot } = health.details;
  // the network is shown as broken, whichever call noticed it
  const cut = [token, bank].find(({ owner }) => owner === 'network');
  const network: Part = cut ?? egress;
  let broken = false;
  const hop = (name: string, part: Part, value: string): Hop => {
    const level = broken && part.status !== 'down' ? 'unknown' : LEVELS[part.status];
    broken ||= level === 'bad' || (part === network && level === 'warn');
    if (level === 'unknown') return { name, level, value: NOT_CHECKED };
    return { name, level, value: level === 'ok' ? value : toFailure(part, bank.failingSince, value) };
  };
  const isExpired = Date.parse(certificate.notAfter) <= now;
  const life = isExpired ? 'expired' : toDaysLeft(certificate.daysLeft);
  const served = toServed(health, now);
  return [
    certificate.code === 'certificate-expiring' || isExpired
      ? { ...hop('Certificate', certificate, life), value: life }
      : hop('Certificate', certificate, life),
    hop('Network', network, toRoute(egress.route)),
    hop('Token service', token === cut ? NOT_TRIED : token, toTokenValue(token.state)),
    hop('Account list', bank === cut ? NOT_TRIED : bank, toBankValue(recent)),
    toSnapshotHop(snapshot, served),
    toAppsHop(served, toActive(recent).length),
  ];
}

/** The whole days until a certificate expires. */
function toDaysLeft(days: number): string {
  if (days <= 0) return 'less than a day left';
  return `${days} ${days === 1 ? 'day' : 'days'} left`;
}

/** A token that ended while nobody called is renewed by the next call. */
const toTokenValue = (state: string): string =>
  state === 'usable' ? 'valid, renewed automatically' : 'renewed at the next call';

interface Part {
  readonly status: Status;
  readonly code?: string;
  readonly detail?: string;
}

const NOT_TRIED: Part = { status: 'unknown' };

/** "503 since 06:05:20". */
function toFailure({ code, detail = '' }: Part, since: string | null, value: string): string {
  if (code === undefined) return value;
  const words = toShortCause({ code, detail });
  return since === null ? words : `${words} since ${toClock(since)}`;
}

function toRoute(route: string): string {
  return route === 'direct' ? route : route.replace(/^(?:direct|proxy) /, '').replace(/^https?:\/\//, '');
}

function toBankValue(recent: Recent | null): string {
  const point = recent?.points.findLast(({ bankP50Ms }) => bankP50Ms !== null);
  return point ? `answers in ${Math.round(point.bankP50Ms ?? 0)} ms` : 'answers';
}

function toSnapshotHop({ asOf, accounts }: Health['details']['snapshot'], served: Served): Hop {
  const name = 'Snapshot';
  if (asOf === null) return { name, level: 'unknown', value: 'none' };
  const count = `${accounts} ${accounts === 1 ? 'account' : 'accounts'}`;
  if (served === 'none' || served === 'waiting') return { name, level: 'bad', value: `${toClock(asOf)}, expired` };
  if (served === 'copy') return { name, level: 'warn', value: `${toClock(asOf)}, copy` };
  return { name, level: served === 'empty' ? 'warn' : 'ok', value: served === 'empty' ? 'no accounts' : count };
}

function toAppsHop(served: Served, apps: number): Hop {
  const name = 'Your apps';
  const get = apps === 0 ? 'get' : toSubject(apps, 'get');
  switch (served) {
    case 'copy':
      return { name, level: 'warn', value: `${get} the copy` };
    case 'empty':
      return { name, level: 'bad', value: `${get} an empty list` };
    case 'none':
      return { name, level: 'bad', value: `${get} errors` };
    case 'waiting':
      return { name, level: 'warn', value: 'wait' };
    case 'stopping':
      return { name, level: 'unknown', value: NOT_CHECKED };
    case 'current':
      return {
        name,
        level: 'ok',
        value: apps === 0 ? 'no call this minute' : `${apps} ${apps === 1 ? 'app' : 'apps'}`,
      };
  }
}
