import { toAccounts } from '../shared/count.js';
import { toPoints, type Recent, type RecentClient } from '../shared/gateway.js';
import type { Health, Status } from '../shared/health.js';
import type { Level } from '../shared/level.js';
import { toDuration, toMinuteMoment, toMoment } from '../shared/time.js';
import { isRejected, toActive, toSubject, type Got } from './apps.js';
import { toCause, toTroubles, type Cause } from './cause.js';
import { toShortCause } from './cause-text.js';
import { isWithinMinute, toSilence, type Idle } from './idle.js';
import { isUrgent } from './incident.js';
import { isShut, toServed, type Served } from './served.js';

/** A stage of the path from the bank to the apps. */
export interface Hop {
  readonly name: string;
  readonly level: Level;
  readonly value: string;
}

const LEVELS: Readonly<Record<Status, Level>> = { up: 'ok', degraded: 'warn', down: 'bad', unknown: 'unknown' };
const NOT_CHECKED = 'not checked';
const NAMES = ['Certificate', 'Network', 'Token service', 'Account list', 'Snapshot', 'Your apps'] as const;

/** The stages while the gateway does not respond. */
export const UNCHECKED: readonly Hop[] = NAMES.map((name) => ({ name, level: 'unknown', value: NOT_CHECKED }));

/**
 * The stages in order; each depends on the one before. On the way to the bank, stages after a broken one are "not
 * checked" unless they are down too. While no app is served, one that nobody has tried for a minute is a ring.
 */
export function toPath(health: Health, recent: Recent | null, now: number): Hop[] {
  const { certificate, egress, token, bank } = health.details;
  const idle = toSilence(health, recent, now);
  const series = new Map(
    toTroubles(health, []).map((trouble) => [trouble.part, toCause(health, 'current', [trouble], now)]),
  );
  // the network is shown as broken, whichever call detected it
  const cut = [token, bank].find(({ owner }) => owner === 'network');
  const network = cut ?? egress;
  let broken = false;
  const hop = (name: string, part: Part, value: string, cause?: Cause | null): Hop => {
    const level = broken && part.status !== 'down' ? 'unknown' : LEVELS[part.status];
    broken ||= level === 'bad' || (part === network && level === 'warn');
    if (level === 'unknown') return { name, level, value: NOT_CHECKED };
    return { name, level, value: level === 'ok' ? value : toFailure(part, cause ?? null, value, now) };
  };
  const served = toServed(health, now);
  // calls that are all rejected (4xx) try nothing either
  const isUntried = idle !== null || served === 'untried';
  const isListTried = isWithinMinute(bank.lastSuccessAt, now);
  const isTokenTried = isListTried || isWithinMinute(token.lastSuccessAt, now);
  const ring = (each: Hop, isTried: boolean, value: string): Hop =>
    isUntried && !isTried && each.level === 'ok' ? { ...each, level: 'unknown', value } : each;
  // probes renew the token without reading the list
  const triedAt = [idle?.triedAt ?? bank.lastSuccessAt, token.lastSuccessAt].filter(Boolean).toSorted().at(-1);
  const since = triedAt ? `not tried since ${toMinuteMoment(triedAt, now)}` : 'not tried';
  const isExpired = Date.parse(certificate.notAfter) <= now;
  const life = isExpired ? 'expired' : `${toDuration(Date.parse(certificate.notAfter) - now)} left`;
  // a new certificate that was rejected is not the one in use
  const keepsLife = certificate.status !== 'down' || isExpired;
  const tokenUntil = token.expiresInSeconds === null ? null : toMinuteMoment(now + token.expiresInSeconds * 1000, now);
  const list = toListValue(health, recent, now);
  const first = hop('Certificate', certificate, life, series.get('certificate'));
  const isEnding = first.level === 'warn' && isUrgent({ part: 'certificate' }, certificate.notAfter, now);
  return [
    { ...first, ...(keepsLife && { value: life }), ...(isEnding && { level: 'bad' }) },
    ring(
      hop(
        'Network',
        network,
        egress.proxy === null ? 'direct' : `through ${egress.proxy}`,
        series.get(cut === token ? 'token' : cut ? 'bank' : 'egress'),
      ),
      isTokenTried,
      since,
    ),
    ring(
      hop(
        'Token service',
        token === cut ? NOT_TRIED : token,
        tokenUntil ? `token until ${tokenUntil}` : 'no token',
        series.get('token'),
      ),
      isTokenTried,
      tokenUntil ? `token until ${tokenUntil}` : 'token expired',
    ),
    ring(hop('Account list', bank === cut ? NOT_TRIED : bank, list, series.get('bank')), isListTried, list),
    toSnapshotHop(health, served, idle !== null && !isListTried, now),
    toAppsHop(served, toActive(recent), idle, isShut(health, now)),
  ];
}

/** The stages by the names of their components in /health. */
const STAGES: Readonly<Record<string, (typeof NAMES)[number]>> = {
  certificate: 'Certificate',
  egress: 'Network',
  token: 'Token service',
  bank: 'Account list',
  snapshot: 'Snapshot',
};

/** The name of the stage that is the cause of the incident; undefined if it is not on the path. */
export const toMainStage = ({ part, owner }: Cause): string | undefined =>
  owner === 'network' && (part === 'token' || part === 'bank') ? 'Network' : STAGES[part];

interface Part {
  readonly status: Status;
  readonly code?: string;
}

const NOT_TRIED: Part = { status: 'unknown' };

/** "503 since 06:05:20". */
function toFailure({ code }: Part, cause: Cause | null, value: string, now: number): string {
  if (code === undefined) return value;
  const words = toShortCause(code, cause?.answer ?? null);
  return cause?.since ? `${words} since ${toMoment(cause.since, now)}` : words;
}

/** Median duration of the last calls to the bank, and time of the last refresh. */
function toListValue({ details: { bank } }: Health, recent: Recent | null, now: number): string {
  const point = toPoints(recent).findLast(({ bankP50Ms }) => bankP50Ms !== null);
  const took = point ? `${Math.round(point.bankP50Ms ?? 0)} ms` : 'answers';
  return bank.lastSuccessAt === null ? took : `${took}, ${toMoment(bank.lastSuccessAt, now)}`;
}

function toSnapshotHop({ details }: Health, served: Served, isUntried: boolean, now: number): Hop {
  const { asOf, accounts } = details.snapshot;
  const name = 'Snapshot';
  if (asOf === null) return { name, level: 'unknown', value: 'none' };
  const at = toMoment(asOf, now);
  if (served === 'untried') return { name, level: 'unknown', value: `${at}, expired` };
  if (served === 'none' || served === 'waiting') return { name, level: 'bad', value: `${at}, expired` };
  if (served === 'copy') return { name, level: 'warn', value: `${at}, copy` };
  const seconds = details.bank.slow?.copySeconds ?? null;
  if (served === 'copies')
    return { name, level: 'warn', value: seconds === null ? at : `copies up to ${seconds} s old` };
  if (served === 'empty') return { name, level: 'warn', value: 'no accounts' };
  return { name, level: isUntried ? 'unknown' : 'ok', value: `${toAccounts(accounts ?? 0)}, ${at}` };
}

function toAppsHop(served: Served, active: readonly RecentClient[], idle: Idle | null, cannotConnect: boolean): Hop {
  const apps = active.length;
  const name = 'Your apps';
  if (cannotConnect && apps === 0) return { name, level: 'bad', value: 'cannot connect' };
  if (idle) {
    const rejected = idle.rejected.length;
    const silent = idle.silentMs === null ? 'no call' : `no call for ${toDuration(idle.silentMs)}`;
    const value = rejected === 0 ? silent : `${rejected} ${rejected === 1 ? 'app' : 'apps'}: only rejections`;
    return { name, level: rejected === 0 ? 'unknown' : 'warn', value };
  }
  const hasServed = active.some((client) => !isRejected(client));
  const get = (...got: Got[]) => (hasServed ? toSubject(active, ...got) : 'get');
  switch (served) {
    case 'copy':
      return { name, level: 'warn', value: `${get('stale')} the copy` };
    case 'copies':
      return { name, level: 'warn', value: `${get('stale')} copies` };
    case 'empty':
      return { name, level: 'bad', value: `${get('current', 'stale')} an empty list` };
    case 'none':
      return { name, level: 'bad', value: `${get('errors')} errors` };
    case 'waiting':
    case 'untried':
      return { name, level: 'warn', value: 'wait' };
    case 'stopping':
      return { name, level: 'unknown', value: NOT_CHECKED };
    case 'current':
      return { name, level: 'ok', value: `${apps} called, last minute` };
  }
}
