import type { Recent, RecentClient } from '../shared/gateway.js';
import { toMoment } from '../shared/time.js';
import type { Health } from '../shared/health.js';
import { toServed } from './served.js';

/** Callers of the last minute. */
export const toActive = (recent: Recent | null): readonly RecentClient[] =>
  recent?.clients.filter(({ callsPerMinute }) => callsPerMinute > 0) ?? [];

/** True if every call of an active app failed because of the app: it was neither served, nor failed by the gateway. */
export const isRejected = ({ callsPerMinute, current, stale, errors }: RecentClient): boolean =>
  callsPerMinute > 0 && current + stale + errors === 0;

/** The results of a call: current data, a copy, an error of the gateway. */
export type Got = 'current' | 'stale' | 'errors';

/** "4 apps get", or "1 app gets": those that got one of these in the last minute. "A call gets" without one. */
export function toSubject(active: readonly RecentClient[], ...got: readonly Got[]): string {
  const apps = active.filter((client) => got.some((each) => client[each] > 0)).length;
  if (apps === 0) return 'A call gets';
  return apps === 1 ? '1 app gets' : `${apps} apps get`;
}

/** The groups of the table, in its order. */
const GROUPS: readonly (readonly [word: string, isIn: (client: RecentClient) => boolean])[] = [
  ['failing', ({ errors }) => errors > 0],
  ['on copies', ({ stale }) => stale > 0],
  ['rejected (4xx)', isRejected],
  ['current', ({ callsPerMinute }) => callsPerMinute > 0],
  ['without a call in the last minute', () => true],
];

const groupOf = (client: RecentClient): number => GROUPS.findIndex(([, isIn]) => isIn(client));

/** The callers for the table: failing, then with copies, rejected, current, silent; each by name. */
export const toRows = (clients: readonly RecentClient[]): RecentClient[] =>
  clients.toSorted((a, b) => groupOf(a) - groupOf(b) || a.name.localeCompare(b.name));

/** The callers that the table has no space for: "12 more: 10 current, 2 without a call in the last minute." */
export function toRest(rest: readonly RecentClient[]): string {
  const groups = [...Map.groupBy(rest, groupOf)].toSorted(([a], [b]) => a - b);
  return `${rest.length} more: ${groups.map(([at, { length }]) => `${length} ${GROUPS[at]?.[0]}`).join(', ')}.`;
}

/** A sentence on what apps get while everything is healthy. */
export function toWellText(health: Health, active: readonly RecentClient[], now: number): string {
  const { asOf, expiresAt } = health.details.snapshot;
  if (toServed(health, now) === 'untried')
    return `The next call waits for the bank${expiresAt === null ? '' : `: the copy expired at ${toMoment(expiresAt, now)}`}.`;
  if (toServed(health, now) === 'copy' && asOf !== null)
    return `${toSubject(active, 'stale')} the copy of ${toMoment(asOf, now)} until the next refresh ends.`;
  const read = asOf === null ? '' : `, read at ${toMoment(asOf, now)}`;
  return `${toSubject(active, 'current')} current data${read}.`;
}

/** What apps get while the bank is slow: the headline and the note for their teams say the same. */
export function toSlowText({ details }: Health, active: readonly RecentClient[]): string {
  const seconds = details.bank.slow?.copySeconds ?? null;
  if (seconds === null) return 'Calls wait for the bank.';
  const subject = active.some(({ stale }) => stale > 0) ? toSubject(active, 'stale') : 'Apps got';
  return `${subject} copies up to ${seconds} s old, marked stale.`;
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
