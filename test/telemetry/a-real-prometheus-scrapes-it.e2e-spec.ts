import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { dashboardQueries } from '../support/dashboard.js';
import { read } from '../support/documents.js';
import { startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { hasPrometheus, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

const FULL = process.env['FULL'] === '1';
/** A minute at length, else enough for a few scrapes. */
const SECONDS = FULL ? 60 : 5;

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
  (SECONDS + 60) * 1000,
);
