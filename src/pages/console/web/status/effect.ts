import type { RecentClient } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { toMoment } from '../shared/time.js';
import { toSlowText, toSubject } from './apps.js';
import type { Incident } from './incident.js';

/** What the apps get, in a sentence. */
export function toEffect(
  { served, isShut, copy, status, end }: Incident,
  health: Health | null,
  active: readonly RecentClient[],
  now: number,
): string {
  const none = active.length === 0 ? 'No app called in the last minute. ' : '';
  if (isShut) return 'Apps that verify the certificate of this API cannot connect.';
  if (served === 'unknown')
    return status === 0
      ? 'Apps on the same network path cannot reach the gateway either.'
      : 'Unknown: this page no longer gets any data.';
  if (served === 'none') return `${none}${toSubject(active, 'errors')} ${status} instead of data.`;
  if (served === 'waiting' || served === 'untried')
    return `${none}Calls wait for the bank. If it does not respond in time, they fail with 504.`;
  if (served === 'stopping') return 'No effect if another instance answers.';
  if (served === 'empty')
    return `${none}${toSubject(active, 'current', 'stale')} a list without accounts, with status 200.`;
  if (served === 'copies' && health) return toSlowText(health, active);
  if (copy) return `${none}${toSubject(active, 'stale')} data of ${toMoment(copy.asOf, now)}, marked stale.`;
  return end === null ? 'Nothing. Apps are not affected.' : 'Nothing yet.';
}
