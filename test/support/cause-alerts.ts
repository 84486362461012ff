import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { temporaryDirectory } from './closing.js';
import { read } from './documents.js';
import type { Sample, Scrape } from './scrape.js';
import { pathOf } from './tools.js';

/** A scrape of an instance, and the number of minutes for which it applies. Counters continue to rise at their rate. */
export interface Span {
  readonly scrape: Scrape;
  readonly minutes: number;
}

const RULES = 'config/prometheus/alerts.yml';
const LABELS = { job: 'accounts-gateway', instance: 'gateway:3000' };

/** An alert and the minutes in which it fires. */
export interface Firing {
  readonly labels: Readonly<Record<string, string>>;
  readonly minutes: number[];
}

/** The name of the alert without the common prefix. */
export const nameOf = ({ labels }: Firing): string => labels['alertname']?.replace('AccountsGateway', '') ?? '';

/** Runs the alert rules over these spans, one list per cause. Returns the alerts of each cause. Needs promtool. */
export function alertsOf(causes: readonly (readonly Span[])[]): Firing[][] {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'alerts.yml'), read(RULES));
  const tests = causes.map((spans, index) => ({
    name: String(index),
    interval: '1m',
    input_series: toSeries(spans),
    // the test expects no alerts, so promtool reports those that fire
    promql_expr_test: Array.from({ length: minutesOf(spans) }, (_, minute) => ({
      expr: `count by (alertname, outcome, use) (ALERTS{alertstate="firing"}) * 0 + ${index * 1000 + minute}`,
      eval_time: `${minute}m`,
      exp_samples: [],
    })),
  }));
  const file = join(directory, 'causes.test.yml');
  const rules = {
    rule_files: ['alerts.yml'],
    evaluation_interval: '1m',
    group_eval_order: ['accounts-gateway-ratios', 'accounts-gateway'],
  };
  writeFileSync(file, JSON.stringify({ ...rules, tests }));
  const { stdout, stderr } = spawnSync(pathOf('promtool'), ['test', 'rules', file], {
    encoding: 'utf8',
    env: { ...process.env, GOGC: '400' },
  });
  return causes.map((_, index) => toFiring(stdout + stderr, index));
}

/** The alerts that remain after the inhibit rules of config/prometheus/alertmanager.yml. */
export function inhibit(firing: readonly Firing[]): Firing[] {
  const { inhibit_rules: rules } = parse(read('config/prometheus/alertmanager.yml')) as {
    inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[];
  };
  const matches = (matchers: readonly string[], { labels }: Firing) =>
    matchers.every((matcher) => {
      const [, label = '', pattern = ''] = /^(\w+) =~? "?([^"]+)"?$/.exec(matcher) ?? [];
      return new RegExp(`^(?:${pattern})$`).test(labels[label] ?? '');
    });
  return firing.filter(
    (alert) =>
      !rules.some(
        ({ source_matchers, target_matchers }) =>
          matches(target_matchers, alert) && firing.some((other) => matches(source_matchers, other)),
      ),
  );
}

const minutesOf = (spans: readonly Span[]): number => spans.reduce((sum, { minutes }) => sum + minutes, 0);

/** The value of each expression is 1000 times the cause plus the minute. */
function toFiring(output: string, index: number): Firing[] {
  const firing = new Map<string, Firing>();
  for (const [, set = '', value] of output.matchAll(/(\{alertname=[^}]*\}) ([\d.E+]+)/g)) {
    if (Math.floor(Number(value) / 1000) !== index) continue;
    const labels = Object.fromEntries(
      [...set.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text]),
    );
    const { minutes } = firing.get(set) ?? { minutes: [] };
    firing.set(set, { labels, minutes: [...minutes, Number(value) % 1000] });
  }
  return [...firing.values()];
}

/** The series read by the rules, in promtool's notation. */
function toSeries(spans: readonly Span[]): { series: string; values: string }[] {
  const rules = read(RULES);
  const scrapes = spans.map(({ scrape }) => {
    const read = scrape.samples.filter(({ name }) => rules.includes(name));
    return new Map(read.map((sample) => [toKey(sample), sample]));
  });
  const series = [...new Map(scrapes.flatMap((samples) => [...samples]))].map(([key, { name }]) => {
    const values = scrapes.map((samples) => samples.get(key)?.value);
    return { series: key, values: toValues(name, values, spans) };
  });
  return [...series, { series: toKey({ name: 'up', labels: {}, value: 1 }), values: `1x${minutesOf(spans)}` }];
}

function toKey({ name, labels }: Sample): string {
  const pairs = Object.entries({ ...labels, ...LABELS }).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.join(',')}}`;
}

/** promtool's time starts at 0. A counter that has risen keeps rising by the same amount each minute. */
function toValues(name: string, values: readonly (number | undefined)[], spans: readonly Span[]): string {
  const shift = name.endsWith('_timestamp_seconds') ? Date.now() / 1000 : 0;
  const isCounter = /_(?:total|bucket|count|sum)$/.test(name);
  let last = 0;
  const parts = values.map((value, index) => {
    const { minutes = 1 } = spans[index] ?? {};
    const rise = isCounter && index > 0 ? Math.max(0, (value ?? 0) - (values[index - 1] ?? 0)) : 0;
    if (value === undefined) return `_x${minutes}`;
    const from = isCounter ? Math.max(value, last + rise) : value - shift;
    last = from + rise * (minutes - 1);
    return `${from}+${rise}x${minutes - 1}`;
  });
  return parts.join(' ');
}
