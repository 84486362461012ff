import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Owner } from '../../../src/errors/problem-table.js';

/** One Prometheus scrape: gauges and counters by name, and the owner of the last problem. */
export interface Sample {
  readonly owner: Owner;
  readonly values: Readonly<Record<string, number>>;
}

interface FiredAlert {
  readonly name: string;
  readonly severity: string;
  readonly owner: Owner;
  readonly announced: boolean;
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
}

const SCRAPES_A_MINUTE = 4;
export const SCRAPE_EVERY_MS = 60_000 / SCRAPES_A_MINUTE;
/** The longest window in the rules is a day. */
const MAX_SAMPLES = 24 * 60 * SCRAPES_A_MINUTE + 1;

/** Samples, newest first. */
type Scraped = readonly Sample[];

const value = (scraped: Scraped, name: string, minutesAgo = 0) =>
  scraped[minutesAgo * SCRAPES_A_MINUTE]?.values[name] ?? 0;
const increase = (scraped: Scraped, counter: string, minutes: number) =>
  value(scraped, counter) - value(scraped, counter, minutes);
const toMinutes = (duration: string) => Number.parseInt(duration) * (duration.endsWith('h') ? 60 : 1);

/** True if the share of errors within the window is above the threshold. */
function burns(scraped: Scraped, window: string, threshold: number): boolean {
  const errors = increase(scraped, 'errors', toMinutes(window));
  return errors > threshold * (errors + increase(scraped, 'responses', toMinutes(window)));
}

/** The maximum of a gauge over so many days, sampled every 15 minutes. */
function greatest(scraped: Scraped, gauge: string, days: number): number {
  const step = 15 * SCRAPES_A_MINUTE;
  const values = Array.from({ length: days * 96 + 1 }, (_, quarter) => scraped[quarter * step]?.values[gauge] ?? NaN);
  return Math.max(...values.filter((each) => !Number.isNaN(each)));
}

/**
 * True if this alert fired in the last `minutes`, including this scrape. Its rule must precede the rules that use it.
 */
const hasFired = (scraped: Scraped, alert: string, minutes: number): boolean =>
  scraped.slice(0, minutes * SCRAPES_A_MINUTE + 1).some(({ values }) => values[`${alert} fires`]);

type Condition = (scraped: Scraped, ...thresholds: string[]) => boolean;

/**
 * Simplified equivalents of the PromQL expressions: a pattern that extracts the thresholds, a function that applies
 * them, and who must act (by default the owner of the last problem).
 */
const EQUIVALENTS: readonly (readonly [name: RegExp, expr: RegExp, Condition, Owner?])[] = [
  [/NotReady$/, /_ready == 0/, (scraped) => !value(scraped, 'ready')],
  [/Stale$/, /_snapshot_stale == 1/, (scraped) => value(scraped, 'snapshot stale') === 1],
  [
    /CertificateExpires\d+Days$/,
    /< (\d+) \* 86400(?:\) >= (\d+))?/,
    (scraped, days, least = '-Infinity') => {
      const endsInMs = value(scraped, 'certificate ends in ms');
      return endsInMs < Number(days) * 86_400_000 && endsInMs >= Number(least) * 86_400_000;
    },
    'operator',
  ],
  [/CertificateRefused$/, /_refused == 1/, (scraped) => value(scraped, 'certificate rejected') === 1, 'operator'],
  [
    /RejectedByBank$/,
    /outcome=~"([\w|-]+)"\}\[(\d+)m\]\)\) > 0/,
    (scraped, codes = '', minutes) =>
      !value(scraped, 'circuit closed') &&
      codes.split('|').some((code) => increase(scraped, `ended ${code}`, Number(minutes)) > 0),
    'operator',
  ],
  [
    /ErrorBudgetBurn/,
    /ratio_rate(\w+) > ([\d.]+) \* ([\d.]+) and .*ratio_rate(\w+) > .*unless .*NotReady.*\[(\d+)m\]\)(.*BurnFast)?/,
    (scraped, long = '', factor, budget, short = '', minutes, orFast) =>
      [long, short].every((window) => burns(scraped, window, Number(factor) * Number(budget))) &&
      !hasFired(scraped, 'AccountsGatewayNotReady', Number(minutes)) &&
      !(orFast && hasFired(scraped, 'AccountsGatewayErrorBudgetBurnFast', 0)),
  ],
  [
    /BankSlow$/,
    /quantile\(([\d.]+),.*\[(\d+)m\]\)\)\) > 3$/,
    (scraped, quantile, minutes) =>
      increase(scraped, 'list over 3 s', Number(minutes)) >
      (1 - Number(quantile)) * increase(scraped, 'list', Number(minutes)),
    'bank',
  ],
  [/NoAccounts$/, /_snapshot_accounts == 0$/, (scraped) => value(scraped, 'accounts') === 0, 'bank'],
  [
    /FewerAccounts$/,
    /<= (\d) \* .*\[(\d)d\]\)\) \/ (\d)$/,
    (scraped, times, days, parts) =>
      value(scraped, 'accounts') > 0 &&
      value(scraped, 'accounts') <= (Number(times) * greatest(scraped, 'accounts', Number(days))) / Number(parts),
    'bank',
  ],
];

/**
 * Alerts that cannot fire: the simulated process never ends, has no Redis, no file and no `Date` from the bank, and its
 * bank has no unknown keys and always responds eventually.
 */
const NOT_SIMULATED = /Down$|BankDrift$|SharingUnavailable$|RefreshesNeverFinish$|Degraded$/;

/**
 * Evaluates the alert rules of config/prometheus at each scrape. Names, severities, `for` and thresholds come from that
 * file.
 */
export class Alerts {
  readonly fired: FiredAlert[] = [];
  readonly #scraped: Sample[] = [];
  readonly #rules = readRules().map((rule) => ({ ...rule, trueFor: -1 }));

  /** @param announced true while operators know the cause, and have silenced what it triggers */
  scrape(sample: Sample, announced: boolean): void {
    const values: Record<string, number> = { ...sample.values };
    this.#scraped.unshift({ ...sample, values });
    this.#scraped.splice(MAX_SAMPLES);
    for (const rule of this.#rules) {
      const { name, severity, owner = sample.owner } = rule;
      rule.trueFor = rule.condition(this.#scraped, ...rule.thresholds) ? rule.trueFor + 1 : -1;
      if (rule.trueFor >= rule.forMinutes * SCRAPES_A_MINUTE) values[`${name} fires`] = 1;
      if (rule.trueFor === rule.forMinutes * SCRAPES_A_MINUTE) this.fired.push({ name, severity, owner, announced });
    }
  }
}

function readRules() {
  const file = new URL('../../../config/prometheus/alerts.yml', import.meta.url);
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules).filter(({ alert }) => alert && !NOT_SIMULATED.test(alert));
  return rules.map(({ alert: name, expr, for: wait = '0m', labels: { severity } }) => {
    const [, pattern, condition, owner] = EQUIVALENTS.find(([names]) => names.test(name)) ?? [];
    const thresholds = pattern?.exec(expr.trim().replaceAll(/\s+/g, ' '))?.slice(1);
    if (!condition || !thresholds) throw new Error(`${name} has no equivalent with its thresholds here`);
    return { name, severity, owner, condition, thresholds, forMinutes: toMinutes(wait) };
  });
}
