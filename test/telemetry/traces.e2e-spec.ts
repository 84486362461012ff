import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startTracing, type Tracing } from '../../src/telemetry/tracing.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { startDeafServer } from '../support/deaf-server.js';
import { ROOT } from '../support/documents.js';
import { type Gateway, get, startGateway } from '../support/gateway.js';
import { keepLines } from '../support/log-lines.js';
import { type CollectedSpan, type Collector, startCollector } from '../support/otlp-collector.js';
import { json } from '../support/pretend-bank.js';
import { PLANTED, sampleId } from '../support/sample-accounts.js';
import { until } from '../support/until.js';
import { startWatched, type WatchedProgram } from '../support/watched-program.js';

const bank = await bankForFile();

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const traceParent = (flags: string) => ({ traceparent: `00-${TRACE}-${PARENT}-${flags}` });

let tracing: Tracing | null = null;
const { logger, lines, written } = keepLines();
afterEach(async () => {
  await tracing?.stop();
  tracing = null;
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  written.length = 0;
});

async function startTraced(env: Record<string, string> = {}, settings: Record<string, string> = {}) {
  const collector = await startCollector();
  Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
  tracing = await startTracing(process.env, logger);
  expect(tracing).not.toBeNull();
  const gateway = await startGateway(bank, settings);
  return { collector, gateway };
}

/** Stops the gateway and the exporter. Returns the spans sent. */
async function collect(gateway: Gateway, collector: Collector): Promise<CollectedSpan[]> {
  await gateway.close();
  await tracing?.stop(20_000);
  return collector.spans;
}

const byName = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name);
const LIST = 'GET /api/v1/accounts';
const TOKEN = 'GET /api/v1/authorizations/authorize';
const NOWHERE = 'http://127.0.0.1:9';

describe('traces', () => {
  it('cover a request, the refresh that it waited for, and the calls to the bank', async () => {
    const { collector, gateway } = await startTraced({}, { BANK_PAGE_SIZE: '2' });
    const answer = await gateway.get('/api/v1/accounts?iban=DE89370400440532013000', traceParent('01'));
    expect(answer.status).toBe(200);
    await gateway.get('/api/v1/accounts', traceParent('01'));
    const spans = await collect(gateway, collector);

    const servers = spans.filter(({ kind }) => kind === 'server');
    const [refresh] = byName(spans, 'refresh');
    expect(servers.map(({ name, traceId, parentSpanId }) => [name, traceId, parentSpanId])).toEqual([
      [LIST, TRACE, PARENT],
      [LIST, TRACE, PARENT],
    ]);
    const refreshId = gateway.events('snapshot.refreshed')[0]?.['refreshId'];
    expect(servers.map(({ attributes }) => attributes)).toEqual([
      {
        'http.request.method': 'GET',
        'http.route': '/api/v1/accounts',
        'http.response.status_code': 200,
        'accounts_gateway.cache': 'miss',
        'accounts_gateway.refresh_id': refreshId,
      },
      {
        'http.request.method': 'GET',
        'http.route': '/api/v1/accounts',
        'http.response.status_code': 200,
        'accounts_gateway.cache': 'hit',
      },
    ]);
    expect(refresh).toMatchObject({
      kind: 'internal',
      parentSpanId: '',
      links: [servers[0]?.spanId],
      attributes: {
        'accounts_gateway.refresh_id': refreshId,
        'accounts_gateway.accounts': 3,
        'accounts_gateway.complete': true,
      },
      failed: false,
    });
    expect(refresh?.traceId).not.toBe(TRACE);
    const calls = spans.filter(({ kind }) => kind === 'client');
    const { hostname, port } = new URL(bank.url);
    expect(calls.map(({ name }) => name)).toEqual([TOKEN, LIST, LIST]);
    for (const call of calls) {
      expect(call).toMatchObject({ traceId: refresh?.traceId, parentSpanId: refresh?.spanId, failed: false });
      expect(call.attributes).toMatchObject({
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'server.address': hostname,
        'server.port': Number(port),
      });
    }
    expect(calls[1]?.attributes['url.query']).toBe('PageNumber=1&PageSize=2');
    expect(gateway.events('request').map((line) => line['trace_id'])).toEqual([TRACE, TRACE]);
    expect(spans[0]?.resource).toMatchObject({
      'service.name': 'accounts-gateway',
      'service.version': expect.any(String),
      'telemetry.sdk.language': 'nodejs',
    });
    expect(collector.requests[0]?.path).toBe('/v1/traces');
  });

  it("respect the caller's sampled flag, and ignore a malformed traceparent", async () => {
    const { collector, gateway } = await startTraced();
    await gateway.get('/api/v1/balances', traceParent('00'));
    const malformed = { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` };
    expect((await gateway.get('/health/live', malformed)).status).toBe(200);
    const spans = await collect(gateway, collector);
    expect(byName(spans, 'GET /api/v1/balances')).toEqual([]);
    expect(gateway.events('request').find(({ route }) => route === '/api/v1/balances')).toMatchObject({
      trace_id: TRACE,
    });
    const [live] = byName(spans, 'GET /health/live');
    expect([live?.traceId === TRACE, live?.parentSpanId]).toEqual([false, '']);
    // the refresh has its own trace
    expect(byName(spans, 'refresh')).toMatchObject([{ links: [] }]);
  });

  it('have error.type for a failed request, even if it was rejected or abandoned, or has no route', async () => {
    const { collector, gateway } = await startTraced();
    await gateway.get('/nothing/DE89370400440532013000');
    await gateway.get('/api/v1/accounts?pageSize=x');
    await gateway.get('/api/v1/accounts', { host: 'elsewhere.example' });
    await gateway.get('/%zz');
    bank.onAccounts = (_request, response) => json(response, 500, {});
    await gateway.get('/api/v1/accounts');
    await gateway.get('/api/v1/balances');
    const spans = await collect(gateway, collector);
    const reported = spans
      .filter(({ kind }) => kind === 'server')
      .map(({ name, attributes, failed }) => [name, attributes['error.type'], failed]);
    expect(reported).toEqual([
      ['GET', 'not-found', false],
      [LIST, 'invalid-request', false],
      [LIST, 'host-not-allowed', false],
      ['GET', 'malformed-request', false],
      [LIST, 'bank-error', true],
      ['GET /api/v1/balances', 'bank-error', true],
    ]);
    // the second caller may have arrived after the wait
    expect(byName(spans, 'refresh')[0]).toMatchObject({
      failed: true,
      attributes: { 'error.type': 'bank-error' },
      links: [expect.any(String)],
    });
    expect(spans.find(({ kind, name }) => kind === 'client' && name === LIST)).toMatchObject({
      failed: true,
      attributes: { 'error.type': 'bank-error', 'http.response.status_code': 500 },
    });
  });

  it('add no header to calls to the bank, and contain no secret', async () => {
    const { collector, gateway } = await startTraced();
    const headers = { ...traceParent('01'), tracestate: 'vendor=secret', baggage: 'user=secret' };
    await gateway.get('/api/v1/accounts', {
      ...headers,
      'x-client-name': 'planted-client',
      'x-request-id': 'planted-id',
    });
    await gateway.get(`/api/v1/accounts/${sampleId(1)}?x=${PLANTED.text}`, headers);
    await gateway.get(`/api/v1/accounts?q=${PLANTED.text}&iban=${PLANTED.iban}`, headers);
    await gateway.get(`/${PLANTED.text}`, headers);
    bank.onAccounts = (request, response) =>
      json(response, 400, { ...PLANTED, message: `${PLANTED.text} ${request.headers.authorization}` });
    await gateway.get('/api/v1/accounts', { ...headers, 'cache-control': 'no-cache' });
    await collect(gateway, collector);

    expect(bank.requests.length).toBeGreaterThan(1);
    for (const request of bank.requests) {
      expect(Object.keys(request.headers).filter((name) => /trace|baggage|b3|otel/i.test(name))).toEqual([]);
      expect(JSON.stringify(request)).not.toContain(TRACE);
    }
    const sent = Buffer.concat(collector.requests.map(({ body }) => body)).toString('latin1');
    expect(sent).toContain('/api/v1/accounts');
    expectNoSecret(sent, secretsOf(bank));
    for (const planted of ['secret', 'planted', sampleId(1), 'Nordlys', bank.tokens[0]])
      expect(sent).not.toContain(planted);
    // only the bank's address, not the caller's
    for (const { attributes } of collector.spans.filter(({ kind }) => kind === 'server')) {
      expect(JSON.stringify(attributes)).not.toContain('127.0.0.1');
    }
  });
});

describe('the variables of OpenTelemetry', () => {
  it.each([
    ['grpc://user:hidden-1@collector', 1],
    ['nonsense hidden-1', 1],
    ['', 0],
  ])('turn traces off with the endpoint "%s"', async (endpoint, warnings) => {
    await expect(startTracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }, logger)).resolves.toBeNull();
    expect(lines('config.warning')).toHaveLength(warnings);
    expect(written.join('')).not.toContain('hidden');
  });
});

it('an unreachable collector costs its spans and one log line', async () => {
  const { collector, gateway } = await startTraced();
  collector.status = 400;
  expect((await gateway.get('/health/live')).status).toBe(200);
  // the SDK sends a batch every 5 s
  await until(() => lines('traces.unavailable').length > 0);
  expect(lines('traces.unavailable')).toMatchObject([{ level: 'warn', failure: '400' }]);
  collector.close();
  expect((await gateway.get('/health/live')).status).toBe(200);
  await collect(gateway, collector);
  expect(written).toHaveLength(1);
});

describe('traces of the program', () => {
  /** The OpenTelemetry packages in the loaded chunks of the bundle, from their source maps. */
  function openTelemetryIn(watched: WatchedProgram): string[] {
    const maps = watched.loaded(/\/(dist\/[\w.-]+\.js)$/).map((file) => join(ROOT, `${file}.map`));
    const sources = maps.filter((map) => existsSync(map)).map((map) => readFileSync(map, 'utf8'));
    const packages = sources.flatMap((text) => [...text.matchAll(/node_modules\/@opentelemetry\/([a-z-]+)/g)]);
    return [...new Set(packages.map(([, name = '']) => name))];
  }

  /** Time that the program takes to stop, ms. */
  async function stop({ program }: WatchedProgram): Promise<number> {
    const started = performance.now();
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    return performance.now() - started;
  }

  it('that are turned off load no package of the SDK, and open no connection', async () => {
    const watched = await startWatched(bank);
    await stop(watched);
    expect(openTelemetryIn(watched)).toEqual(['api']);
    expect(watched.connectedTo()).toEqual([new URL(bank.url).port]);
  });

  it('the negative case: turned on in .env, they are sent when the process stops, and not through EGRESS_PROXY_URL', async () => {
    const collector = await startCollector();
    const headers = 'OTEL_EXPORTER_OTLP_HEADERS=authorization=hidden-1';
    const proxies = { EGRESS_PROXY_URL: 'direct', HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE };
    const watched = await startWatched(bank, proxies, `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\n${headers}\n`);
    await stop(watched);
    expect(openTelemetryIn(watched)).toEqual(expect.arrayContaining(['sdk-trace', 'exporter-trace-otlp-proto']));
    expect(collector.spans.map(({ name }) => name)).toEqual(expect.arrayContaining([LIST, 'refresh', TOKEN]));
    expect(collector.requests[0]?.headers['authorization']).toBe('hidden-1');
    expect(watched.program.stdout() + watched.program.stderr()).not.toContain('hidden-1');
  });

  it('that are on do not delay the stop if the collector drops packets', async () => {
    const port = await startDeafServer();
    const watched = await startWatched(bank, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '30000',
    });
    await until(() => watched.connectedTo().includes(String(port)));
    expect((await get(`${watched.url}/api/v1/accounts`)).status).toBe(200);
    // half of the SDK's own timeout
    expect(await stop(watched)).toBeLessThan(15_000);
  });
});
