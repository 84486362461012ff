import { toTable } from '../docs/to-table.js';
import type { Month } from './play-month.js';

/** One row for each day. */
export function toDayTable({ days }: Month): string {
  const rows = days.map(({ day, token, list, stale, failed, notReady, notReadyAnnounced, odd }) =>
    [day, token, list, stale, failed, notReady, notReadyAnnounced, odd.join(', ')].map(String),
  );
  const heads = ['token requests', 'list calls', 'stale', 'failed', 'not ready', 'not ready, announced', 'odd'];
  return toTable(['day', ...heads], rows);
}

/** The month in numbers, as docs/month.md has it. */
export function toSummary({ days, counters, exports }: Month): string {
  const sum = (pick: (day: Month['days'][number]) => number) => days.reduce((total, day) => total + pick(day), 0);
  const { responses = 0, stale = 0, errors = 0 } = counters;
  const range = (values: readonly number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;
  const working = days.filter(({ day }) => (day - 1) % 7 < 5).map(({ list }) => list);
  const weekend = days.filter(({ day }) => (day - 1) % 7 > 4).map(({ list }) => list);
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  return toTable(
    [`in ${days.length} days`, 'simulated'],
    [
      ['token requests', `${sum(({ token }) => token)}; a day ${range(days.map(({ token }) => token))}`],
      ['list calls', `${sum(({ list }) => list)}; on a weekday ${range(working)}, else ${range(weekend)}`],
      [
        'successful responses; fresh ones among them',
        `${percent(responses / (responses + errors))}; ${percent(1 - stale / responses)}`,
      ],
      ['minutes with stale responses', `${sum((day) => day.stale)}`],
      ['minutes with failed calls', `${sum((day) => day.failed)}`],
      [
        'minutes not ready; in announced windows',
        `${sum((day) => day.notReady)}; ${sum((day) => day.notReadyAnnounced)}`,
      ],
      ['exports at once; late; failed', `${exports.atOnce}; ${exports.late}; ${exports.failed}`],
    ],
  );
}

/** Alerts by name, most urgent first; fired outside of announced windows by the party who must act. */
export function toAlertTable({ alerts }: Month): string {
  const groups = Object.entries(Object.groupBy(alerts, ({ name, severity }) => `${name} ${severity}`));
  const rows = groups.map(([key, all = []]) => {
    const [name = '', severity = ''] = key.split(' ');
    const fired = all.filter(({ announced }) => !announced);
    const owners = Object.entries(Object.groupBy(fired, ({ owner }) => owner));
    const forWhom = owners.map(([owner, own]) => `${owner} ${own.length}`).join(', ');
    return [name.replace('AccountsGateway', ''), severity, forWhom, String(all.length - fired.length)];
  });
  const urgency = ['critical', 'warning', 'info'];
  const sorted = rows.toSorted(([, a = ''], [, b = '']) => urgency.indexOf(a) - urgency.indexOf(b));
  return toTable(['alert', 'severity', 'fired, by who acts', 'in announced windows'], sorted);
}
