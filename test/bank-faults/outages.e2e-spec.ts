import type { TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { type Answer, get, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { type Handler, json } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('faults over time', () => {
  let clock: MovedClock;
  beforeEach(() => {
    clock = new MovedClock();
    clock.stop();
  });

  const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts'));
  const pagesAsked = () => lists().map(({ path }) => Number(/PageNumber=(\d+)/.exec(path)?.[1]));
  const NO_CACHE = { 'cache-control': 'no-cache' };

  describe.each([
    [429, 'bank-rate-limited'],
    [503, 'bank-error'],
  ])('the account list answers %d with Retry-After', (status, code) => {
    it.each([
      ['seconds', '7', 7, 7],
      ['garbage', 'soon', 1, 2],
      ['1e9', '1000000000', 300, 300],
    ])('%s', async (_name, value, least, most) => {
      bank.onAccounts = (_request, response) => json(response, status, {}, { 'retry-after': value });
      const gateway = await startGateway(bank, {}, clock);
      const answer = await askInTime(gateway);
      expect(answer.json.code).toBe(code);
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(least);
      expect(seconds).toBeLessThanOrEqual(most);
      // a bank that says when to come back is not asked sooner, not even once more within the call
      clock.advance(least * 1000 - 600);
      const early = await askInTime(gateway, '/api/v1/accounts', NO_CACHE);
      expect([early.json.code, lists().length]).toEqual([code, 1]);
      expect((await gateway.get('/health')).json.details.bank.circuit).toBe('open');
      repair(bank);
      clock.advance((most - least) * 1000 + 1200);
      const last = await askInTime(gateway);
      expect([last.status, lists().length]).toEqual([200, 2]);
      await expectCommonConditions(bank, gateway, [answer, early, last]);
    });
  });

  describe('the connection dies between two pages', () => {
    const good = listSample(6);
    const dieAfter =
      (page: number, times: number): Handler =>
      (request, response, url) => {
        if (Number(url.searchParams.get('PageNumber')) <= page) return good(request, response, url);
        if (pagesAsked().filter((asked) => asked > page).length > times) return good(request, response, url);
        return (request.socket as TLSSocket).destroy();
      };
    const env = { BANK_PAGE_SIZE: '2', BANK_MAX_CONCURRENT_REQUESTS: '1' };

    it('once: the page is asked for again at once, and the list is whole', async () => {
      bank.onAccounts = dieAfter(1, 1);
      const gateway = await startGateway(bank, env, clock);
      const answer = await askInTime(gateway);
      expect([answer.status, answer.json.page.total, answer.json.snapshot.complete]).toEqual([200, 6, true]);
      expect(pagesAsked()).toEqual([1, 2, 2, 3]);
      await expectCommonConditions(bank, gateway, [answer]);
    });

    it('each time: no part of the list is served, the cached copy is, marked, and it recovers', async () => {
      const gateway = await startGateway(bank, { ...env, SNAPSHOT_FRESH_MS: '0' }, clock);
      bank.onAccounts = good;
      const before = await askInTime(gateway);
      bank.onAccounts = dieAfter(1, Infinity);
      clock.advance(2000);
      const [held, now] = [await askInTime(gateway), await askInTime(gateway, '/api/v1/accounts', NO_CACHE)];
      expect([held.status, held.json.page.total, held.json.snapshot.stale]).toEqual([200, 6, true]);
      expect([now.status, now.json.code, now.json.owner]).toEqual([503, 'bank-unreachable', 'network']);
      // page 1, page 2 over the kept connection, over a fresh one, and once more after a moment
      expect(pagesAsked().slice(3)).toEqual([1, 2, 2, 2]);
      bank.onAccounts = good;
      clock.advance(LONGEST_WAIT_MS);
      const last = await askInTime(gateway);
      expect([last.json.page.total, last.json.snapshot.stale]).toEqual([6, false]);
      await expectCommonConditions(bank, gateway, [before, held, now, last]);
    });
  });

  describe('an answer within the size limit that would swell in memory', () => {
    const part = (open: string, each: string, close: string) =>
      `${open}${each.repeat(30_000_000 / each.length)}${close}`;
    it.each([
      ['objects in an account', part('{"result":[{"accountId":"1","balances":[', '{},', '{}]}]}')],
      ['numbers', part('{"result":[],"x":[', '1,', '1]}')],
      ['nesting', part('{"result":[],"x":', '[', '')],
    ])('30 MB of %s: refused, and others are answered meanwhile', async (_name, body) => {
      bank.onAccounts = (_request, response) => response.end(body);
      const gateway = await startGateway(bank, {}, clock);
      const refused = askInTime(gateway);
      const answered = new AbortController();
      void refused.finally(() => answered.abort());
      let slowest = 0;
      while (!answered.signal.aborted) {
        const started = performance.now();
        expect((await get(`${gateway.url}/health/live`)).status).toBe(200);
        slowest = Math.max(slowest, performance.now() - started);
      }
      const answer = await refused;
      expect([answer.status, answer.json.code]).toEqual([502, 'bank-response-invalid']);
      // without the limit it is 10 to 30 s
      expect(slowest).toBeLessThan(4000);
      repair(bank);
      clock.advance(LONGEST_WAIT_MS);
      expect((await askInTime(gateway)).json.page.total).toBe(3);
      await expectCommonConditions(bank, gateway, [answer]);
    });
  });
});

describe('the bank goes off and on again', () => {
  it('off from the start: a problem says so, and it recovers without a restart', async () => {
    const directory = temporaryDirectory();
    const settings = { directory, port: await closedPort(), controlPort: await closedPort() };
    const sandbox = await start(settings);
    await sandbox.close();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    const answers: Answer[] = [];
    for (let call = 0; call < 5; call++) answers.push(await askInTime(gateway));
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({ code: 'bank-unreachable', owner: 'network', instance: '/api/v1/accounts' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(2);
      expect(answer.json.detail).toMatch(/refused/);
    }
    const health = await gateway.get('/health');
    expect(health.status).toBe(503);
    expect(health.json).toMatchObject({
      status: 'error',
      details: {
        token: { status: 'down', code: 'bank-unreachable' },
        bank: { status: 'unknown', circuit: 'open', lastSuccessAt: null, lastError: { code: 'bank-unreachable' } },
      },
    });
    expect((await gateway.get('/health/live')).status).toBe(200);

    const again = await start(settings);
    expect(again.url).toBe(sandbox.url);
    clock.advance(2000);
    expect((await askInTime(gateway)).status).toBe(200);
    expect(gateway.events('bank.unavailable')).toHaveLength(1);
    expect(gateway.events('bank.recovered')).toHaveLength(1);
    expect((await gateway.get('/health')).json).toMatchObject({
      status: 'ok',
      details: { bank: { status: 'up', circuit: 'closed' } },
    });
  });

  it('off while a copy is cached: the copy is served, marked, until it is too old; then the problem; then a new one', async () => {
    const directory = temporaryDirectory();
    const settings = { directory, port: await closedPort(), controlPort: await closedPort() };
    const sandbox = await start(settings);
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    const first = await askInTime(gateway);
    await sandbox.close();

    expect((await askInTime(gateway)).text).toBe(first.text);
    clock.advance(11_000);
    const stale = await askInTime(gateway);
    expect(stale.status).toBe(200);
    expect(stale.json.snapshot).toEqual({ asOf: first.json.snapshot.asOf, stale: true, complete: true });
    expect(stale.json.accounts).toEqual(first.json.accounts);
    expect(stale.headers).toMatchObject({
      'snapshot-stale': 'true',
      'snapshot-as-of': first.json.snapshot.asOf,
      'cache-control': 'private, max-age=0',
    });
    expect(Number(stale.headers.age)).toBeGreaterThanOrEqual(11);
    expect(stale.headers['cache-status']).toMatch(/^accounts-gateway; fwd=stale/);
    expect((await gateway.get('/health')).json).toMatchObject({
      status: 'degraded',
      details: { snapshot: { status: 'degraded', stale: true, accounts: 120 } },
    });
    expect((await gateway.get('/health/ready')).status).toBe(200);

    clock.advance(285_000);
    expect((await askInTime(gateway)).json.snapshot.stale).toBe(true);
    clock.advance(10_000);
    const tooOld = await askInTime(gateway);
    expect(tooOld.json).toMatchObject({ status: 503, code: 'bank-unreachable' });
    expect((await gateway.get('/health/ready')).status).toBe(503);
    expect(gateway.events('bank.unavailable')).toHaveLength(1);
    expect(gateway.events('bank.recovered')).toEqual([]);

    await start(settings);
    clock.advance(40_000);
    const fresh = await askInTime(gateway);
    expect(fresh.json.snapshot).toMatchObject({ stale: false });
    expect(fresh.json.accounts).toEqual(first.json.accounts);
    expect(gateway.events('bank.recovered')).toHaveLength(1);
  });

  it('readiness comes back by itself, with nobody calling for accounts', async () => {
    const directory = temporaryDirectory();
    const settings = { directory, port: await closedPort(), controlPort: await closedPort() };
    const sandbox = await start(settings);
    await sandbox.close();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    expect((await gateway.get('/health/ready')).status).toBe(503);
    await start(settings);
    clock.advance(2000);
    await until(async () => (await gateway.get('/health/ready')).status === 200);
    expect(gateway.events('bank.recovered')).toHaveLength(1);
  });
});
