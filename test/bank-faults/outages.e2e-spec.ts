import type { TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { type Handler, json } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { until } from '../support/until.js';

const NO_CACHE = { 'cache-control': 'no-cache' };

const bank = await bankForFile();
let clock: MovedClock;
beforeEach(() => {
  clock = new MovedClock();
  clock.stop();
});

const pagesAsked = () =>
  bank.requests
    .flatMap(({ path }) => /PageNumber=(\d+)/.exec(path)?.[1] ?? '')
    .filter(Boolean)
    .map(Number);

it.each([
  [429, 'bank-rate-limited'],
  [503, 'bank-error'],
])('a Retry-After with status %d is respected, also within the call', async (status, code) => {
  bank.onAccounts = (_request, response) => json(response, status, {}, { 'retry-after': '7' });
  const gateway = await startGateway(bank, {}, clock);
  const answer = await askInTime(gateway);
  expect([answer.json.code, answer.headers['retry-after']]).toEqual([code, '7']);
  clock.advance(6400);
  const early = await askInTime(gateway, '/api/v1/accounts', NO_CACHE);
  expect([early.json.code, pagesAsked()]).toEqual([code, [1]]);
  expect((await gateway.get('/health')).json.details.bank.circuit).toBe('open');
  repair(bank);
  clock.advance(1200);
  const last = await askInTime(gateway);
  expect([last.status, pagesAsked()]).toEqual([200, [1, 1]]);
  await expectCommonConditions(bank, gateway, [answer, early, last]);
});

it('a connection that dies between two pages leads to the cached copy, marked stale, never to part of a list', async () => {
  const good = listSample(6);
  const dieAfterTheFirst: Handler = (request, response, url) => {
    if (url.searchParams.get('PageNumber') === '1') good(request, response, url);
    else (request.socket as TLSSocket).destroy();
  };
  const env = { BANK_PAGE_SIZE: '2', BANK_MAX_CONCURRENT_REQUESTS: '1', SNAPSHOT_FRESH_MS: '0' };
  const gateway = await startGateway(bank, env, clock);
  bank.onAccounts = good;
  const before = await askInTime(gateway);
  bank.onAccounts = dieAfterTheFirst;
  clock.advance(2000);
  const [held, now] = [await askInTime(gateway), await askInTime(gateway, '/api/v1/accounts', NO_CACHE)];
  expect([held.status, held.json.page.total, held.json.snapshot.stale]).toEqual([200, 6, true]);
  expect([now.status, now.json.code, now.json.owner]).toEqual([502, 'certificate-rejected', 'operator']);
  // page 1, page 2 over the kept connection, and over two fresh ones in a row
  expect(pagesAsked().slice(3)).toEqual([1, 2, 2, 2]);
  bank.onAccounts = good;
  clock.advance(LONGEST_WAIT_MS);
  const last = await askInTime(gateway);
  expect([last.json.page.total, last.json.snapshot.stale]).toEqual([6, false]);
  await expectCommonConditions(bank, gateway, [before, held, now, last]);
});

it('30 MB that would grow in memory are rejected, and other callers are served meanwhile', async () => {
  const body = `{"result":[{"accountId":"1","balances":[${'{},'.repeat(10_000_000)}{}]}]}`;
  bank.onAccounts = (_request, response) => response.end(body);
  const patience = { BANK_REQUEST_TIMEOUT_MS: '50000', REQUEST_DEADLINE_MS: '50000' };
  const gateway = await startGateway(bank, patience, clock);
  const refused = askInTime(gateway);
  const answered = new AbortController();
  void refused.finally(() => answered.abort());
  let others = 0;
  while (!answered.signal.aborted) {
    expect((await gateway.get('/health/live')).status).toBe(200);
    others += 1;
  }
  const answer = await refused;
  expect([answer.status, answer.json.code]).toEqual([502, 'bank-response-invalid']);
  expect(others).toBeGreaterThan(3);
  repair(bank);
  clock.advance(LONGEST_WAIT_MS);
  expect((await askInTime(gateway)).json.page.total).toBe(3);
  await expectCommonConditions(bank, gateway, [answer]);
});

describe('a bank that is down from the start', () => {
  const begin = async () => {
    const settings = {
      SANDBOX_DIRECTORY: temporaryDirectory(),
      SANDBOX_PORT: await closedPort(),
      SANDBOX_CONTROL_PORT: await closedPort(),
    };
    const sandbox = await start(settings);
    await sandbox.close();
    return { gateway: await startGateway(sandbox, {}, clock), turnOn: () => start(settings) };
  };

  it('is reported with owner and next attempt, and the gateway recovers without a restart', async () => {
    const { gateway, turnOn } = await begin();
    for (let call = 0; call < 5; call++) {
      const { headers, json: problem } = await askInTime(gateway);
      expect(problem).toMatchObject({ status: 503, code: 'bank-unreachable', owner: 'network' });
      expect(['1', '2']).toContain(headers['retry-after']);
      expect(problem.detail).toMatch(/refused/);
    }
    const health = await gateway.get('/health');
    expect([health.status, health.json]).toMatchObject([
      503,
      {
        status: 'error',
        details: {
          token: { status: 'down', code: 'bank-unreachable' },
          bank: { status: 'unknown', circuit: 'open', lastSuccessAt: null, lastError: { code: 'bank-unreachable' } },
        },
      },
    ]);
    expect((await gateway.get('/health/live')).status).toBe(200);

    await turnOn();
    clock.advance(2000);
    expect((await askInTime(gateway)).status).toBe(200);
    expect(gateway.events('bank.unavailable')).toHaveLength(1);
    expect(gateway.events('bank.recovered')).toHaveLength(1);
    expect((await gateway.get('/health')).json).toMatchObject({
      status: 'ok',
      details: { bank: { status: 'up', circuit: 'closed' } },
    });
  });

  it('becomes ready again without a caller', async () => {
    const { gateway, turnOn } = await begin();
    expect((await gateway.get('/health/ready')).status).toBe(503);
    await turnOn();
    clock.advance(2000);
    await until(async () => (await gateway.get('/health/ready')).status === 200);
  });
});
