import type { Recent, RecentClient } from '../shared/gateway.js';
import { toMoment } from '../shared/time.js';
import type { Health } from '../shared/health.js';
import type { Incident } from './incident.js';
import { toServed } from './served.js';

/** Callers of the last minute. */
export const toActive = (recent: Recent | null): readonly RecentClient[] =>
  recent?.clients.filter(({ callsPerMinute }) => callsPerMinute > 0) ?? [];

/** How many got data, or an error of the gateway. The others were only rejected (4xx), whatever the state. */
const countServed = (active: readonly RecentClient[]): number =>
  active.filter(({ current, stale, errors }) => current + stale + errors > 0).length;

/** The callers for the table: failing first, then by name. */
export const toRows = (clients: readonly RecentClient[]): RecentClient[] =>
  clients.toSorted((a, b) => Number(b.errors > 0) - Number(a.errors > 0) || a.name.localeCompare(b.name));

/** "4 apps get", "1 app gets", or "A call gets" without one that was served. */
export function toSubject(active: readonly RecentClient[], verb: string): string {
  const apps = countServed(active);
  if (apps === 0) return `A call ${verb}s`;
  return apps === 1 ? `1 app ${verb}s` : `${apps} apps ${verb}`;
}

/** A sentence on what apps get while everything is healthy. */
export function toWellText(health: Health, active: readonly RecentClient[], now: number): string {
  const { asOf, expiresAt } = health.details.snapshot;
  if (toServed(health, now) === 'untried')
    return `The next call waits for the bank${expiresAt === null ? '' : `: the copy expired at ${toMoment(expiresAt, now)}`}.`;
  const read = asOf === null ? '' : `, read at ${toMoment(asOf, now)}`;
  return `${toSubject(active, 'get')} current data${read}.`;
}

/** What the apps show in the meantime, for the note to their teams. */
export function toEffect(
  { served, isShut, copy, status, end }: Incident,
  active: readonly RecentClient[],
  now: number,
): string {
  const none = active.length === 0 ? 'No app called in the last minute. ' : '';
  if (isShut) return 'Apps that verify the certificate of this API cannot connect.';
  if (served === 'unknown')
    return status === 0
      ? 'Apps on the same network path cannot reach the gateway either.'
      : 'Unknown: this page no longer gets any data.';
  if (served === 'none') return `${none}${toSubject(active, 'get')} ${status} instead of data.`;
  if (served === 'waiting' || served === 'untried')
    return `${none}Calls wait for the bank. If it does not respond in time, they fail with ${status}.`;
  if (served === 'stopping') return 'Nothing, if another instance answers.';
  if (served === 'empty') return `${none}${toSubject(active, 'get')} a list without accounts, with status 200.`;
  if (copy) return `${none}${toSubject(active, 'get')} data of ${toMoment(copy.asOf, now)}, marked stale.`;
  return end === null ? 'Nothing. Apps are not affected.' : 'Nothing yet.';
}

/** A caller's display name. */
export const toAppName = (name: string): string => ({ none: 'no name', other: 'other names' })[name] ?? name;

/** Calls that failed because of the caller: 4xx, and those whose caller left. */
export const toRejected = (each: Record<'current' | 'stale' | 'errors', number>, all: number): number =>
  Math.max(0, all - each.current - each.stale - each.errors);

/** The results of an app in the last minute, in words. */
export function toGot(client: RecentClient): string {
  const { current, stale, errors, callsPerMinute } = client;
  const got = [
    [current, 'current'],
    [stale, 'copy'],
    [errors, 'failed'],
    [toRejected(client, callsPerMinute), 'rejected (4xx)'],
  ] as const;
  return got.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ');
}
