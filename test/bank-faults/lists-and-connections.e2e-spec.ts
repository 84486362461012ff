import type { TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { get, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, type Handler } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
let clock: MovedClock;
beforeEach(() => {
  clock = new MovedClock();
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

  it('each time: no part of the list is given, what was held is, marked, and it recovers', async () => {
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
  const part = (open: string, each: string, close: string) => `${open}${each.repeat(30_000_000 / each.length)}${close}`;
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

describe('the bank comes and goes', () => {
  it('under steady callers no failure is told before what is held is too old, and none after it is back', async () => {
    const env = { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_SOFT_TIMEOUT_MS: '50', BANK_REQUEST_TIMEOUT_MS: '300' };
    const gateway = await startGateway(bank, env, clock);
    const answers = [await askInTime(gateway)];
    const ways: Handler[] = [
      (_request, response) => json(response, 500, {}),
      ({ socket }) => socket.destroy(),
      () => undefined,
      (_request, response) => void response.end('<html>'),
    ];
    for (const way of ways) {
      bank.onAccounts = way;
      answers.push(...(await Promise.all(Array.from({ length: 5 }, () => askInTime(gateway)))));
      clock.advance(LONGEST_WAIT_MS / 4);
      answers.push(await askInTime(gateway));
      repair(bank);
      clock.advance(40_000);
      // a reading may still be on its way out of the fault
      await until(async () => (await askInTime(gateway, '/api/v1/accounts', NO_CACHE)).status === 200);
    }
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await expectCommonConditions(bank, gateway, answers);
  });
});
