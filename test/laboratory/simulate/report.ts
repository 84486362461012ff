import { toTable } from '../to-table.js';
import type { Month } from './play-month.js';

/** The results of the month, as in the README. */
export function toSummary({ calls: { token, accounts }, counters }: Month): string {
  const count = (name: string) => counters[name] ?? 0;
  const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
  const range = (values: readonly number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;
  const percent = (part: number, all: number) => `${((100 * part) / all).toFixed(2)} %`;
  const [responses, fresh] = [count('responses'), count('responses') - count('stale')];
  const { weekdays = [], weekends = [] } = Object.groupBy(accounts.entries(), ([day]) =>
    day % 7 < 5 ? 'weekdays' : 'weekends',
  );
  const rangeOf = (days: readonly [number, number][]) => range(days.map(([, each]) => each));
  const rows = {
    'token requests': `${sum(token)}; a day ${range(token)}`,
    'list calls': `${sum(accounts)}; on a weekday ${rangeOf(weekdays)}, else ${rangeOf(weekends)}`,
    'successful responses; fresh ones among them': `${percent(responses, responses + count('errors'))}; ${percent(fresh, responses)}`,
    'minutes with stale responses': `${count('minutes stale')}`,
    'minutes with failed calls': `${count('minutes failed')}`,
    'minutes not ready; in announced windows': `${count('minutes not ready')}; ${count('minutes not ready, announced')}`,
    'exports at once; late; failed': `${count('exports at once')}; ${count('exports late')}; ${count('exports failed')}`,
  };
  return toTable([`in ${token.length} days`, 'simulated'], Object.entries(rows));
}

/** Alerts by name, most urgent first. Outside announced windows, they are counted by owner. */
export function toAlertTable({ alerts }: Month): string {
  const urgency = ['critical', 'warning', 'info'];
  const sorted = alerts.toSorted((a, b) => urgency.indexOf(a.severity) - urgency.indexOf(b.severity));
  const rows = [...Map.groupBy(sorted, ({ name }) => name)].map(([name, all]) => {
    const fired = all.filter(({ announced }) => !announced);
    const owners = [...Map.groupBy(fired, ({ owner }) => owner)].map(([owner, own]) => `${owner} ${own.length}`);
    const silenced = String(all.length - fired.length);
    return [name.replace('AccountsGateway', ''), all[0]?.severity ?? '', owners.join(', '), silenced];
  });
  return toTable(['alert', 'severity', 'fired, by who acts', 'in announced windows'], rows);
}
