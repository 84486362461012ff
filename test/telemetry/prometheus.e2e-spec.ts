import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { temporaryDirectory } from '../support/closing.js';
import { dashboardQueries } from '../support/dashboard.js';
import { brokenLinks, coded, read, readDocument, ROOT, rowsUnder } from '../support/documents.js';
import { startGateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-connection.js';
import { start } from '../support/sandbox.js';
import { scrape, type Scrape } from '../support/scrape.js';
import { closedPort } from '../support/servers.js';
import { hasPrometheus, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

describe('rules and dashboard', () => {
  interface Rule {
    readonly record?: string;
    readonly alert?: string;
    readonly expr: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  }

  interface RuleTest {
    readonly alert_rule_test: { readonly alertname: string; readonly exp_alerts: unknown[] }[];
  }

  /** There only where instances share. */
  const OF_SHARING = ['accounts_gateway_shared_snapshots_total', 'accounts_gateway_sharing_up'];
  const ALERTS = 'config/prometheus/alerts.yml';

  const rules = (parse(read(ALERTS)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
  const alerts = rules.filter((rule) => rule.alert !== undefined);

  let seen: Scrape;
  let openMetrics: string;
  beforeAll(async () => {
    const gateway = await startGateway(await start());
    for (const path of ['/api/v1/accounts', '/api/v1/accounts', '/nothing', '/api/v1/accounts?pageSize=x'])
      await gateway.get(path, { 'x-client-name': 'a-program' });
    await rawCall(gateway.port, rawRequest('POST / HTTP/1.1'));
    seen = await scrape(gateway);
    openMetrics = (await gateway.get('/metrics', { accept: 'application/openmetrics-text' })).text;
  });

  /** Names of metrics in an expression: no label, function or keyword has one of these beginnings. */
  const metricsIn = (expression: string): string[] =>
    expression.match(/\b(?:accounts_gateway|http_server|http_client|process|nodejs)_[a-z0-9_]+|\bjob:[a-z0-9_:]+/g) ??
    [];

  const missing = (expressions: readonly string[]): string[] => {
    const names = new Set([...seen.samples.map(({ name }) => name), ...rules.map(({ record }) => record ?? '')]);
    return [...new Set(expressions.flatMap(metricsIn))].filter((name) => !names.has(name)).toSorted();
  };

  function promtool(args: readonly string[], files: Record<string, string> = {}, input?: string) {
    const cwd = join(temporaryDirectory(), 'rules');
    mkdirSync(cwd);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd,
      encoding: 'utf8',
      ...(input !== undefined && { input }),
    });
    return { status, text: stdout + stderr };
  }

  const files = () => ({ 'alerts.yml': read(ALERTS), 'alerts.test.yml': read('config/prometheus/alerts.test.yml') });

  describe('the metrics that alerts and dashboard name', () => {
    it('are those of a running gateway', () => {
      expect(missing(rules.map(({ expr }) => expr))).toEqual(['accounts_gateway_sharing_up']);
      expect(missing(dashboardQueries('5m'))).toEqual(OF_SHARING);
    });

    it('are all in docs/health-and-metrics.md, with their type, and no others', () => {
      const reported = (document: string) =>
        rowsUnder(document, 'metric', 'type').map(([name, type]) => `${coded(name).join()} ${type}`);
      const ours = [...seen.text.matchAll(/^# TYPE ((?:accounts_gateway|http)_\S+ \S+)$/gm)].map(
        ([, family]) => family,
      );
      const expected = [
        ...ours,
        'accounts_gateway_sharing_up gauge',
        'accounts_gateway_shared_snapshots_total counter',
      ];
      const document = readDocument('docs/health-and-metrics.md');
      expect(reported(document).toSorted()).toEqual(expected.toSorted());
    });
  });

  describe('each alert', () => {
    it('says how serious it is and what to do', () => {
      for (const { labels, annotations = {} } of alerts) {
        expect(['info', 'warning', 'critical']).toContain(labels?.['severity']);
        expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
        const runbook = annotations['runbook_url'] ?? '';
        expect(runbook).toMatch(/^https:\/\/accounts-gateway\.example\/docs\/guide\/health-and-metrics#./);
        const link = runbook.replace(/^.*\/docs\/guide\/(.+)(?=#)/, 'docs/$1.md');
        expect(brokenLinks('README.md', `[runbook](${link})`)).toEqual([]);
      }
    });

    it('has a case in which it fires, and one in which it does not', () => {
      const { tests } = parse(files()['alerts.test.yml']) as { tests: RuleTest[] };
      const cases = tests.flatMap((test) => test.alert_rule_test);
      for (const { alert } of alerts) {
        const counts = cases.filter((each) => each.alertname === alert).map((each) => each.exp_alerts.length);
        expect({ alert, fires: counts.some((count) => count > 0), rests: counts.includes(0) }).toEqual({
          alert,
          fires: true,
          rests: true,
        });
      }
      expect(cases.filter(({ alertname }) => !alerts.some(({ alert }) => alert === alertname))).toEqual([]);
    });
  });

  (hasPrometheus() ? describe : describe.skip)('promtool', () => {
    it('finds nothing wrong with the rules and the example, and their tests pass', () => {
      expect(promtool(['check', 'rules', 'alerts.yml'], files())).toMatchObject({ status: 0 });
      expect(promtool(['check', 'config', join(ROOT, 'config/prometheus/prometheus.yml')])).toMatchObject({
        status: 0,
      });
      expect(promtool(['test', 'rules', 'alerts.test.yml'], files())).toMatchObject({ status: 0 });
    });

    it('finds nothing wrong with our metrics', () => {
      const ours = /^(?:# (?:HELP|TYPE) )?(?:accounts_gateway|http)_/;
      const text = seen.text.split('\n').filter((line) => ours.test(line));
      expect(text.length).toBeGreaterThan(200);
      expect(promtool(['check', 'metrics'], {}, `${text.join('\n')}\n`)).toEqual({ status: 0, text: '' });
    });

    it('that OpenMetrics has the same samples, but for those that move', () => {
      // the collector's are there once it has run
      const names = (text: string) => [...new Set(text.match(/^(?!nodejs_gc_)[a-z_0-9]+(?=[{ ])/gm))].toSorted();
      expect(names(openMetrics)).toEqual(names(seen.text));
    });
  });
});

/** Enough for a few scrapes. */
const SECONDS = 5;

interface QueryAnswer {
  readonly status: string;
  readonly data: { readonly result: { readonly value: [number, string] }[] };
}

interface Targets {
  readonly data: { readonly activeTargets: { readonly health: string; readonly lastError: string }[] };
}

(hasPrometheus() ? it : it.skip)(
  'a real Prometheus scrapes a gateway, evaluates the rules, and answers what the dashboard asks',
  async () => {
    const gateway = await startGateway(await start(), { SNAPSHOT_FRESH_MS: '500' });
    const directory = temporaryDirectory();
    const port = await closedPort();
    const config = read('config/prometheus/prometheus.yml')
      .replaceAll('15s', '1s')
      .replace('scrape_timeout: 10s', 'scrape_timeout: 1s')
      .replace('127.0.0.1:3000', `127.0.0.1:${gateway.port}`);
    expect(config).toContain(`127.0.0.1:${gateway.port}`);
    writeFileSync(join(directory, 'prometheus.yml'), config);
    writeFileSync(join(directory, 'alerts.yml'), read('config/prometheus/alerts.yml'));
    const args = [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    await startTool('prometheus', args, port);
    // it listens before it is ready
    await until(async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok, 20_000);
    const ask = async <T>(path: string) => (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as T;
    const query = (expression: string) => ask<QueryAnswer>(`query?query=${encodeURIComponent(expression)}`);
    const value = async (expression: string) => Number((await query(expression)).data.result[0]?.value[1]);

    const target = async () => (await ask<Targets>('targets')).data.activeTargets[0];
    await until(async () => (await target())?.health === 'up', 20_000);
    // callers all the while, some of them wrong
    const end = performance.now() + SECONDS * 1000;
    for (let count = 1; performance.now() < end; count += 1) {
      await gateway.get('/api/v1/accounts', { 'x-client-name': 'a-program' });
      if (count % 5 === 0) await gateway.get('/nothing');
      await delay(100);
    }

    expect(await target()).toMatchObject({ health: 'up', lastError: '' });
    expect(await value('scrape_samples_scraped')).toBeGreaterThan(200);
    expect(await value('accounts_gateway_mode{mode="live"}')).toBe(1);
    expect(
      await value('increase(accounts_gateway_client_requests_total{client_name="a-program"}[1m])'),
    ).toBeGreaterThan(5);
    const empty: string[] = [];
    for (const expression of dashboardQueries('30s')) {
      const { status, data } = await query(expression);
      expect({ expression, status }).toEqual({ expression, status: 'success' });
      if (data.result.length === 0) empty.push(expression);
    }
    // only those that ask for what did not happen: nobody shares, and the one token lasts
    expect(empty.filter((expression) => !/sharing_up|shared_snapshots|token_requests_total/.test(expression))).toEqual(
      [],
    );
    const { data } = await ask<{ data: { groups: { rules: { health: string; lastError?: string }[] }[] } }>('rules');
    expect(data.groups.flatMap(({ rules }) => rules).filter(({ health }) => health !== 'ok')).toEqual([]);
    const firing = await query('ALERTS{alertstate="firing"}');
    expect(firing.data.result).toEqual([]);
  },
);
