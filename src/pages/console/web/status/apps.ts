import type { Recent } from '../shared/gateway.js';
import type { RecentClient } from '../shared/gateway.js';
import { toClock } from '../shared/time.js';
import type { Incident } from './incident.js';

/** The callers of the last minute. */
export const toActive = (recent: Recent | null): readonly RecentClient[] =>
  recent?.clients.filter(({ callsPerMinute }) => callsPerMinute > 0) ?? [];

/** "4 apps get", "1 app gets", or "A call gets" when nobody called. */
export function toSubject(apps: number, verb: string): string {
  if (apps === 0) return `A call ${verb}s`;
  return apps === 1 ? `1 app ${verb}s` : `${apps} apps ${verb}`;
}

/** What the apps show meanwhile, for the note to their teams. */
export function toEffect({ served, level, copy, status, headline }: Incident, apps: number): string {
  const none = apps === 0 ? 'No app called in the last minute. ' : '';
  if (served === 'unknown') return 'Apps on the same network path cannot reach the gateway either.';
  if (served === 'none') return `${none}${toSubject(apps, 'get')} ${status} instead of data.`;
  if (served === 'waiting')
    return `${none}Calls wait for the bank. If it does not respond in time, they fail with ${status}.`;
  if (served === 'stopping') return 'Nothing, if another instance answers.';
  if (served === 'empty') return `${none}${toSubject(apps, 'get')} a list without accounts, with status 200.`;
  if (copy) return `${none}${toSubject(apps, 'get')} data of ${toClock(copy.asOf)}, marked stale.`;
  if (level === 'bad') return 'Apps that verify the certificate of this API cannot connect.';
  return headline.includes('fails') ? 'Nothing yet.' : 'Nothing. Apps are not affected.';
}

/** A caller's name for people. */
export const toAppName = (name: string): string => ({ none: 'no name', other: 'other names' })[name] ?? name;

/** What an app got in the last minute, in words. */
export function toGot({ current, stale, errors, callsPerMinute }: RecentClient): string {
  if (callsPerMinute === 0) return 'no call';
  const served = [current > 0 ? 'current' : '', stale > 0 ? 'copy' : ''].filter(Boolean).join(' and ');
  const failed = errors > 0 ? `${errors} failed` : '';
  const refused = callsPerMinute - current - stale - errors;
  return [served, failed, refused > 0 ? `${refused} refused` : ''].filter(Boolean).join(', ');
}
