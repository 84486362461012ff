import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { closeDeafServers, startDeafServer } from '../support/deaf-server.js';
import { get } from '../support/gateway.js';
import { closeCollectors, startCollector } from '../support/otlp-collector.js';
import { closePretendBanks, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { endPrograms, programEnvironment, startProgram, type Program } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

/** Tells on standard error which packages of OpenTelemetry are loaded, and whom the program connects to. */
const WATCH = `
import { registerHooks } from 'node:module';
import { Socket } from 'node:net';
registerHooks({
  load(url, context, next) {
    const name = /@opentelemetry\\/([a-z-]+)/.exec(url)?.[1];
    if (name) process.stderr.write('loaded ' + name + '\\n');
    return next(url, context);
  },
});
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const [options] = args.flat();
  process.stderr.write('connects to ' + (options?.port ?? options) + '\\n');
  return connect.apply(this, args);
};
`;

let bank: PretendBank;
let cwd: string;
beforeAll(async () => {
  bank = await startPretendBank();
  bank.onAccounts = listSample();
});
afterEach(async () => {
  await endPrograms();
  closeDeafServers();
  await closeCollectors();
  rmSync(cwd, { recursive: true, force: true });
});
afterAll(closePretendBanks);

async function startWatched(env: Record<string, string> = {}, envFile = ''): Promise<[Program, string]> {
  cwd = mkdtempSync(join(tmpdir(), 'traces-'));
  writeFileSync(join(cwd, 'watch.mjs'), WATCH);
  writeFileSync(join(cwd, '.env'), envFile, { mode: 0o600 });
  const program = await startProgram({
    cwd,
    env: programEnvironment(bank, env),
    nodeFlags: ['--import', join(cwd, 'watch.mjs')],
  });
  const url = await program.started();
  expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
  return [program, url];
}

const seen = ({ stderr }: Program, what: string) =>
  new Set(
    stderr()
      .split('\n')
      .filter((line) => line.startsWith(`${what} `))
      .map((line) => line.slice(what.length + 1)),
  );

/** How long the program takes to end, ms. */
async function stop(program: Program): Promise<number> {
  const started = performance.now();
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  return performance.now() - started;
}

describe('traces', () => {
  it('not asked for load nothing of the SDK, and connect to nobody', async () => {
    const [program] = await startWatched();
    await stop(program);
    expect([...seen(program, 'loaded')]).toEqual(['api']);
    expect([...seen(program, 'connects to')]).toEqual([new URL(bank.url).port]);
  });

  it('its twin: asked for in .env, they load it, and are sent when the program ends', async () => {
    const collector = await startCollector();
    const headers = 'OTEL_EXPORTER_OTLP_HEADERS=authorization=hidden-1';
    const [program] = await startWatched({}, `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\n${headers}\n`);
    await stop(program);
    expect([...seen(program, 'loaded')]).toEqual(
      expect.arrayContaining(['api', 'sdk-trace', 'resources', 'exporter-trace-otlp-proto']),
    );
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['GET /api/v1/accounts', 'reading', 'GET /api/v1/authorizations/authorize']),
    );
    expect(collector.requests[0]?.headers['authorization']).toBe('hidden-1');
    expect(program.stdout() + program.stderr()).not.toContain('hidden-1');
  });

  it('go straight to the collector, not by the proxy of the bank', async () => {
    const collector = await startCollector();
    const proxies = { EGRESS_PROXY_URL: 'direct', HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' };
    const [program] = await startWatched({ ...proxies, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await stop(program);
    expect(collector.spans.length).toBeGreaterThan(3);
  });

  it('for a collector that is away do not hold up the stop', async () => {
    const [program] = await startWatched({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '30000',
    });
    // the exporter would try for 12 s and more
    expect(await stop(program)).toBeLessThan(10_000);
    expect(program.stdout()).not.toContain('gateway.fault');
  });

  it('for a collector behind a port that drops packets do not hold up the stop', async () => {
    const port = await startDeafServer();
    const [program, url] = await startWatched({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '30000',
    });
    await until(() => seen(program, 'connects to').has(String(port)));
    expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
    expect(await stop(program)).toBeLessThan(10_000);
  });
});
