import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startDeafServer } from '../support/deaf-server.js';
import { ROOT } from '../support/documents.js';
import { get } from '../support/gateway.js';
import { startCollector } from '../support/otlp-collector.js';
import { startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';
import { startWatched, type WatchedProgram } from '../support/watched-program.js';

/** The packages of OpenTelemetry in the loaded chunks of the bundle, by their source maps. */
function openTelemetryIn(watched: WatchedProgram): string[] {
  const maps = watched.loaded(/\/(dist\/[\w.-]+\.js)$/).map((file) => join(ROOT, `${file}.map`));
  const sources = maps.filter((map) => existsSync(map)).map((map) => readFileSync(map, 'utf8'));
  const packages = sources.flatMap((text) => [...text.matchAll(/node_modules\/@opentelemetry\/([a-z-]+)/g)]);
  return [...new Set(packages.map(([, name = '']) => name))];
}

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
  bank.onAccounts = listSample();
});

/** How long the program takes to end, ms. */
async function stop({ program }: WatchedProgram): Promise<number> {
  const started = performance.now();
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  return performance.now() - started;
}

describe('traces', () => {
  it('not asked for load nothing of the SDK, and connect to nobody', async () => {
    const watched = await startWatched(bank);
    await stop(watched);
    expect(openTelemetryIn(watched)).toEqual(['api']);
    expect(watched.connectedTo()).toEqual([new URL(bank.url).port]);
  });

  it('the counterpart: asked for in .env, they load it, and are sent when the program ends', async () => {
    const collector = await startCollector();
    const headers = 'OTEL_EXPORTER_OTLP_HEADERS=authorization=hidden-1';
    const watched = await startWatched(bank, {}, `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\n${headers}\n`);
    await stop(watched);
    expect(openTelemetryIn(watched)).toEqual(
      expect.arrayContaining(['api', 'sdk-trace', 'resources', 'exporter-trace-otlp-proto']),
    );
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['GET /api/v1/accounts', 'refresh', 'GET /api/v1/authorizations/authorize']),
    );
    expect(collector.requests[0]?.headers['authorization']).toBe('hidden-1');
    expect(watched.program.stdout() + watched.program.stderr()).not.toContain('hidden-1');
  });

  it('go straight to the collector, not by the proxy of the bank', async () => {
    const collector = await startCollector();
    const proxies = { EGRESS_PROXY_URL: 'direct', HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' };
    const watched = await startWatched(bank, { ...proxies, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await stop(watched);
    expect(collector.spans.length).toBeGreaterThan(3);
  });

  it('for a collector that is away do not hold up the stop', async () => {
    const watched = await startWatched(bank, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '30000',
    });
    // the exporter would try for 12 s and more
    expect(await stop(watched)).toBeLessThan(10_000);
    expect(watched.program.stdout()).not.toContain('gateway.fault');
  });

  it('for a collector behind a port that drops packets do not hold up the stop', async () => {
    const port = await startDeafServer();
    const watched = await startWatched(bank, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '30000',
    });
    await until(() => watched.connectedTo().includes(String(port)));
    expect((await get(`${watched.url}/api/v1/accounts`)).status).toBe(200);
    expect(await stop(watched)).toBeLessThan(10_000);
  });
});
