import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { temporaryDirectory } from '../support/closing.js';
import { itemsOf, read, readDocument, ROOT, under } from '../support/documents.js';
import { startGateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-connection.js';
import { start } from '../support/sandbox.js';
import { scrape, type Scrape } from '../support/scrape.js';
import { hasPromtool, pathOf } from '../support/tools.js';

describe('alert rules and dashboard', () => {
  interface Rule {
    readonly record?: string;
    readonly alert?: string;
    readonly expr: string;
    readonly annotations?: Readonly<Record<string, string>>;
  }

  /** A test in STORIES: the alerts that fire at each time, and some of their texts. */
  interface Story {
    readonly name: string;
    readonly promql_expr_test: { readonly expr: string; readonly exp_samples: { readonly labels: string }[] }[];
    readonly alert_rule_test?: { readonly alertname: string; readonly exp_alerts: unknown[] }[];
  }

  /** Metrics that exist only with REDIS_URL or SNAPSHOT_FILE. */
  const OF_SHARING = ['accounts_gateway_shared_snapshots_total', 'accounts_gateway_sharing_up'];
  const ALERTS = 'config/prometheus/alerts.yml';
  const STORIES = ['alerts.test.yml', 'alerts-of-a-day.test.yml'];

  const rules = (parse(read(ALERTS)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
  const alerts = rules.filter((rule) => rule.alert !== undefined);

  const { panels } = JSON.parse(read('config/grafana/accounts-gateway.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  /** The dashboard's queries as Grafana sends them: for all jobs and instances, with rates over 5 minutes. */
  const queries = panels
    .flatMap(({ targets = [] }) => targets)
    .map(({ expr }) => expr.replaceAll(/\$(?:job|instance)/g, '.*').replaceAll('$__rate_interval', '5m'));

  let seen: Scrape;
  beforeAll(async () => {
    const gateway = await startGateway(await start());
    for (const path of ['/api/v1/accounts', '/api/v1/accounts', '/nothing', '/api/v1/accounts?pageSize=x'])
      await gateway.get(path, { 'x-client-name': 'a-program' });
    await rawCall(gateway.port, rawRequest('POST / HTTP/1.1'));
    seen = await scrape(gateway);
  });

  /** The metric names in an expression. No label, function or keyword begins like this. */
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
    const { status, stdout, stderr } = spawnSync(pathOf('promtool'), args, {
      cwd,
      encoding: 'utf8',
      // a third of its time would be garbage collection
      env: { ...process.env, GOGC: '400' },
      ...(input !== undefined && { input }),
    });
    return { status, text: stdout + stderr };
  }

  const files: Record<string, string> = Object.fromEntries(
    ['alerts.yml', ...STORIES].map((name) => [name, read(`config/prometheus/${name}`)]),
  );

  describe('the metrics in alerts and dashboard', () => {
    it('exist in a running gateway', () => {
      expect(missing(rules.map(({ expr }) => expr))).toEqual(['accounts_gateway_sharing_up']);
      expect(missing(queries)).toEqual(OF_SHARING);
    });

    it('are those in docs/logs.md, with their type', () => {
      const documented = itemsOf(under(readDocument('docs/logs.md'), 'Metrics')).map(
        ({ names, rest }) => `${names.join()} ${/^ \((\w+)\)(?:: \S|$)/.exec(rest)?.[1]}`,
      );
      const ours = [...seen.text.matchAll(/^# TYPE ((?:accounts_gateway|http)_\S+ \S+)$/gm)].map(
        ([, family]) => family,
      );
      const expected = [
        ...ours,
        'accounts_gateway_sharing_up gauge',
        'accounts_gateway_shared_snapshots_total counter',
      ];
      expect(documented.toSorted()).toEqual(expected.toSorted());
    });
  });

  describe('each alert', () => {
    const stories = STORIES.flatMap(
      (name) => (parse(files[name] ?? '', { maxAliasCount: -1 }) as { tests: Story[] }).tests,
    );
    const FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})';
    /** The alerts that fire at each time of a test. */
    const firingIn = (story: Story) =>
      story.promql_expr_test.map(({ exp_samples }) =>
        exp_samples.map(({ labels }) => /"(\w+)"/.exec(labels)?.[1] ?? ''),
      );

    it('fires in one test, stays silent in another, and has its text compared in one', () => {
      expect(new Set(stories.flatMap((story) => story.promql_expr_test.map(({ expr }) => expr)))).toEqual(
        new Set([FIRING]),
      );
      const described = new Set(
        stories.flatMap(({ alert_rule_test: texts = [] }) => texts.map((text) => text.alertname)),
      );
      for (const { alert = '' } of alerts) {
        const firesIn = (story: Story) => firingIn(story).some((names) => names.includes(alert));
        expect({
          alert,
          fires: stories.some(firesIn),
          rests: !stories.every(firesIn),
          described: described.has(alert),
        }).toEqual({ alert, fires: true, rests: true, described: true });
      }
    });

    it('contains its impact, whom to wake, a command for each kind of deployment, and a runbook that no gateway serves', () => {
      const headings = [...read('docs/troubleshooting.md').matchAll(/^### (.*)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replaceAll(' ', '-'),
      );
      for (const { alert, annotations = {} } of alerts) {
        expect({ alert, ...annotations }).toMatchObject({
          alert,
          impact: expect.stringMatching(/^.{5,120}\.$/),
          wake: expect.stringMatching(/\.$/),
          commands: expect.stringMatching(/^systemd: .+\nDocker: .+\nKubernetes: .+\n$/),
        });
        // with a selector, kubectl logs shows 10 lines per pod without --tail
        expect(annotations['commands']).not.toMatch(/kubectl .*logs -l (?!.*--tail=-1)/);
        const { pathname, hash } = new URL(annotations['runbook_url'] ?? '');
        expect(pathname).not.toMatch(/^\/docs/);
        expect(headings).toContain(hash.slice(1));
      }
    });

    it('that an inhibit rule names exists', () => {
      interface Inhibition {
        readonly source_matchers: readonly string[];
        readonly target_matchers: readonly string[];
      }
      const { inhibit_rules: rules } = parse(read('config/prometheus/alertmanager.yml')) as {
        inhibit_rules: Inhibition[];
      };
      const matchers = rules.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
      for (const matcher of matchers.filter((each) => each.startsWith('alertname'))) {
        const [, pattern = ''] = /^alertname =~? "?([^"]+)"?$/.exec(matcher) ?? [];
        const named = alerts.filter(({ alert = '' }) => new RegExp(`^(?:${pattern})$`).test(alert));
        // each alternative of a pattern matches at least one alert
        expect(named.length).toBeGreaterThanOrEqual(pattern.split('|').length);
      }
    });
  });

  (hasPromtool() ? describe : describe.skip)('promtool', () => {
    it('accepts the rules and the example configuration, and their tests pass', () => {
      expect(promtool(['check', 'rules', 'alerts.yml'], files)).toMatchObject({ status: 0 });
      expect(promtool(['check', 'config', join(ROOT, 'config/prometheus/prometheus.yml')])).toMatchObject({
        status: 0,
      });
      expect(promtool(['test', 'rules', ...STORIES], files)).toMatchObject({ status: 0 });
    });

    it('the negative case: fails a test whose alert comes too late', () => {
      const { 'alerts.yml': rules = '', 'alerts.test.yml': stories = '' } = files;
      const late = rules.replace(/(_snapshot_stale == 1\n\s+for): 2m/, '$1: 5m');
      const [head = '', first = ''] = stories.split(/^(?= {2}- name:)/m);
      const outage = { 'alerts.yml': late, 'alerts.test.yml': head + first };
      const { status, text } = promtool(['test', 'rules', 'alerts.test.yml'], outage);
      expect(status).toBe(1);
      expect(text).toContain('AccountsGatewayStale');
    });

    it('accepts the queries of the dashboard, and rejects a broken one', () => {
      const check = (expressions: readonly string[]) => {
        const records = expressions.map((expr, index) => ({ record: `query:number_${index}`, expr }));
        return promtool(['check', 'rules', 'queries.yml'], {
          'queries.yml': JSON.stringify({ groups: [{ name: 'queries', rules: records }] }),
        });
      };
      expect(queries.length).toBeGreaterThan(10);
      expect(check(queries)).toMatchObject({ status: 0 });
      expect(check([...queries, 'rate(x[5m]'])).toMatchObject({ status: 1 });
    });

    it('accepts our metrics', () => {
      const ours = /^(?:# (?:HELP|TYPE) )?(?:accounts_gateway|http)_/;
      const text = seen.text.split('\n').filter((line) => ours.test(line));
      expect(text.length).toBeGreaterThan(200);
      expect(promtool(['check', 'metrics'], {}, `${text.join('\n')}\n`)).toEqual({ status: 0, text: '' });
    });
  });
});
