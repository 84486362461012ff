import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Owner } from '../../src/problems/problem-table.js';

/** One scrape of Prometheus. */
export interface Sample {
  readonly ready: boolean;
  readonly stale: boolean;
  readonly callersWaiting: number;
  readonly certificateEndsInMs: number;
  readonly certificateRefused: boolean;
  /** Who must act on the last problem. */
  readonly owner: Owner;
  /** Counters since the start, by name. */
  readonly counters: Readonly<Record<string, number>>;
}

export interface FiredAlert {
  readonly name: string;
  readonly severity: string;
  readonly owner: Owner;
  readonly day: number;
  readonly announced: boolean;
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
}

type Condition = (scraped: Scraped, thresholds: readonly string[]) => Owner | false;

/**
 * Simple equivalents of the expressions: a pattern that takes the thresholds out of the expression, and a function that
 * applies them. Returns who must act: for the rules on problems, as the last problem says.
 */
const EQUIVALENTS: readonly (readonly [name: RegExp, expr: RegExp, Condition])[] = [
  [/NotReady$/, /_ready == 0/, ({ last }) => !last.ready && last.owner],
  [/Stale$/, /_snapshot_stale == 1/, ({ last }) => last.stale && last.owner],
  [
    /CertificateExpires\d+Days$/,
    /< (\d+) \* 86400/,
    ({ last }, [days]) => last.certificateEndsInMs < Number(days) * 86_400_000 && 'operator',
  ],
  [/CertificateRefused$/, /_refused == 1/, ({ last }) => last.certificateRefused && 'operator'],
  [
    /RejectedByBank$/,
    /outcome=~"([\w|-]+)"\}\[(\d+)m\]\)\) > 0/,
    (scraped, [codes = '', minutes]) =>
      codes.split('|').some((code) => scraped.increase(`ended ${code}`, Number(minutes)) > 0) && 'operator',
  ],
  [
    /ErrorBudgetBurn/,
    /ratio_rate(\w+) > ([\d.]+) \* ([\d.]+) and .*ratio_rate(\w+) > /,
    (scraped, [long = '', factor, budget, short = '']) =>
      [long, short].every((window) => scraped.errorRatio(toMinutes(window)) > Number(factor) * Number(budget)) &&
      scraped.last.owner,
  ],
  [
    /BankSlow$/,
    /quantile\(([\d.]+),.*\[(\d+)m\]\)\)\) > 3$/,
    (scraped, [quantile, minutes]) =>
      scraped.increase('list over 3 s', Number(minutes)) >
        (1 - Number(quantile)) * scraped.increase('list', Number(minutes)) && 'bank',
  ],
  [
    /RefreshesNeverFinish$/,
    /"bank-timeout"\}\[(\d+)m\]\) > (\d+) .*_pending_requests\[(\d+)m\]/,
    (scraped, [minutes, times, waited]) =>
      ((scraped.increase('refresh bank-timeout', Number(minutes)) > Number(times) &&
        scraped.increase('refresh ok', Number(minutes)) === 0) ||
        (scraped.leastWaiting(Number(waited)) > 0 && scraped.increase('refresh', Number(waited)) === 0)) &&
      'bank',
  ],
];

/** The simulated process never ends, has no Redis, and its bank has no unknown keys. */
const NOT_SIMULATED = /Down$|BankDrift$|SharingUnavailable$/;

const toMinutes = (duration: string) => Number.parseInt(duration) * (duration.endsWith('h') ? 60 : 1);

const SCRAPES_A_MINUTE = 4;
export const SCRAPE_EVERY_MS = 60_000 / SCRAPES_A_MINUTE;
/** The longest window of the rules: 6 h. */
const MAX_SAMPLES = 360 * SCRAPES_A_MINUTE + 1;

/** The last samples, which must not be empty. */
class Scraped {
  readonly #samples: Sample[] = [];

  add(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }

  get last(): Sample {
    const last = this.#samples.at(-1);
    if (!last) throw new Error('nothing was scraped');
    return last;
  }

  increase(counter: string, minutes: number): number {
    const before = this.#samples.at(-1 - minutes * SCRAPES_A_MINUTE);
    return (this.last.counters[counter] ?? 0) - (before?.counters[counter] ?? 0);
  }

  errorRatio(minutes: number): number {
    const errors = this.increase('errors', minutes);
    return errors / (errors + this.increase('responses', minutes));
  }

  leastWaiting(minutes: number): number {
    return Math.min(...this.#samples.slice(-minutes * SCRAPES_A_MINUTE).map(({ callersWaiting }) => callersWaiting));
  }
}

/** The alert rules of config/prometheus, evaluated at each scrape. Names, severities, `for` and thresholds are the file's. */
export class Alerts {
  readonly fired: FiredAlert[] = [];
  readonly #scraped = new Scraped();
  readonly #rules = readRules().map((rule) => ({ ...rule, trueFor: -1 }));

  /** @param announced the operators know why, and have silenced what fires now */
  scrape(sample: Sample, day: number, announced: boolean): void {
    this.#scraped.add(sample);
    for (const rule of this.#rules) {
      const owner = rule.condition(this.#scraped, rule.thresholds);
      rule.trueFor = owner ? rule.trueFor + 1 : -1;
      if (!owner || rule.trueFor !== rule.forMinutes * SCRAPES_A_MINUTE) continue;
      const { name, severity } = rule;
      this.fired.push({ name, severity, owner, day, announced });
    }
  }
}

function readRules() {
  const file = new URL('../../config/prometheus/alerts.yml', import.meta.url);
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules).filter(({ alert }) => alert && !NOT_SIMULATED.test(alert));
  return rules.map(({ alert: name, expr, for: wait = '0m', labels: { severity } }) => {
    const [, pattern, condition] = EQUIVALENTS.find(([names]) => names.test(name)) ?? [];
    const thresholds = pattern?.exec(expr.trim().replaceAll(/\s+/g, ' '))?.slice(1);
    if (!condition || !thresholds) throw new Error(`${name} has no equivalent with its thresholds here`);
    return { name, severity, condition, thresholds, forMinutes: toMinutes(wait) };
  });
}
