import { beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
let clock: MovedClock;
let gateway: Gateway;
beforeEach(async () => {
  clock = new MovedClock();
  gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', BANK_REQUEST_TIMEOUT_MS: '1000' }, clock);
});

const tokenRequests = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;
/** Which token, counted from 1, the last call for accounts was sent with. */
const lastSent = () => {
  const last = bank.requests.findLast(({ path }) => path.startsWith('/api/v1/accounts'));
  return bank.tokens.findIndex((token) => last?.headers.authorization === `Bearer ${token}`) + 1;
};
const ask = async () => {
  const answer = await askInTime(gateway);
  expect(answer.status).toBe(200);
  return answer;
};

describe('tokens age by both clocks', () => {
  it('renewed in the background between 85 % and their end, while the old one is still used', async () => {
    await ask();
    clock.advance(256_000);
    await ask();
    expect(lastSent()).toBe(1);
    await until(() => tokenRequests() === 2);
    await until(() => gateway.events('token.acquired').length === 2);
    await ask();
    expect([tokenRequests(), lastSent()]).toEqual([2, 2]);
  });

  it.each([
    ['by both clocks', () => clock.advance(295_500)],
    ['by the wall clock alone: the machine slept', () => clock.setWall(295_500)],
    ['by the monotonic clock alone: the wall clock was set back', () => clock.advanceMonotonic(295_500)],
    ['after a step of an hour', () => clock.setWall(3_600_000)],
  ])('never sent in their last 5 s, %s', async (_name, pass) => {
    await ask();
    pass();
    await ask();
    expect([tokenRequests(), lastSent()]).toEqual([2, 2]);
  });

  it('a token that ends between two pages is replaced before the second', async () => {
    await gateway.close();
    gateway = await startGateway(bank, { BANK_PAGE_SIZE: '2', BANK_MAX_CONCURRENT_REQUESTS: '1' }, clock);
    const good = listSample(4);
    bank.onAccounts = (request, response, url) => {
      if (url.searchParams.get('PageNumber') === '1') clock.advance(297_000);
      good(request, response, url);
    };
    const { json: body } = await ask();
    expect(body.page.total).toBe(4);
    const sent = bank.requests.flatMap(({ headers }) => headers.authorization?.match(/^Bearer (.*)$/)?.[1] ?? []);
    expect(sent).toEqual(bank.tokens);
    expect(bank.tokens).toHaveLength(2);
  });

  it('500s mid-life: served on until the end of the token, asked in growing steps, and an expired one is never sent', async () => {
    const answers = [await ask()];
    bank.onToken = (_request, response) => json(response, 500, '');
    clock.advance(256_000);
    answers.push(await ask());
    await until(() => tokenRequests() === 2);
    await until(() => gateway.events('token.failed').length === 1);
    expect(lastSent()).toBe(1);
    const health = (await gateway.get('/health')).json;
    expect(health.status).toBe('degraded');
    expect(health.details.token).toMatchObject({
      status: 'degraded',
      state: 'usable',
      lastError: { code: 'bank-error' },
    });

    // over the next 30 s of its life: after 1, 2, 4, 8 and 16 s with jitter of a fifth, however many ask
    for (let second = 0; second < 30; second++) {
      clock.advance(1000);
      const before = gateway.events('token.failed').length;
      answers.push(await ask());
      if (tokenRequests() - 1 > before) await until(() => gateway.events('token.failed').length > before);
    }
    expect(lastSent()).toBe(1);
    expect(tokenRequests() - 1).toBeGreaterThanOrEqual(4);
    expect(tokenRequests() - 1).toBeLessThanOrEqual(5);

    // the outage outlasts the token
    clock.advance(20_000);
    const listsBefore = bank.requests.length - tokenRequests();
    const late = await askInTime(gateway);
    answers.push(late);
    // the copy held is shown, marked; the expired token is not
    expect(late.status).toBe(200);
    expect(late.json.snapshot.stale).toBe(true);
    expect(bank.requests.length - tokenRequests()).toBe(listsBefore);

    repair(bank);
    clock.advance(LONGEST_WAIT_MS);
    answers.push(await ask());
    expect(answers.at(-1)?.json.snapshot.stale).toBe(false);
    await expectCommonConditions(bank, gateway, answers);
  });

  it('a slow token: callers leave at their deadline, the one request goes on for those who come', async () => {
    await gateway.close();
    gateway = await startGateway(bank, { REQUEST_DEADLINE_MS: '1000', BANK_REQUEST_TIMEOUT_MS: '5000' }, clock);
    const issue = bank.onToken;
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    bank.onToken = (...args) => void letGo.then(() => issue(...args));
    const early = await Promise.all([askInTime(gateway), askInTime(gateway), askInTime(gateway)]);
    expect(early.map(({ status, json: { code } }) => `${status} ${code}`)).toEqual(Array(3).fill('504 bank-timeout'));
    const late = askInTime(gateway);
    await until(() => tokenRequests() === 1);
    resolve();
    expect((await late).status).toBe(200);
    expect(tokenRequests()).toBe(1);
    await expectCommonConditions(bank, gateway, early);
  });

  it.each([
    ['seconds', '7', 7, 7],
    ['garbage', 'soon', 1, 2],
    ['1e9', '1000000000', 300, 300],
  ])('429 with %s in Retry-After is waited out', async (_name, value, least, most) => {
    bank.onToken = (_request, response) => json(response, 429, {}, { 'retry-after': value });
    const answer = await askInTime(gateway);
    expect(answer.json.code).toBe('bank-rate-limited');
    const seconds = Number(answer.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(least);
    expect(seconds).toBeLessThanOrEqual(most);
    repair(bank);
    clock.advance(least * 1000 - 600);
    expect((await askInTime(gateway)).json.code).toBe('bank-rate-limited');
    expect(tokenRequests()).toBe(1);
    clock.advance((most - least) * 1000 + 1200);
    expect((await askInTime(gateway)).status).toBe(200);
    expect(tokenRequests()).toBe(2);
  });

  it.each([
    [401, 'credentials-rejected'],
    [403, 'address-not-allowed'],
  ])('a refusal (%d) is asked again after 30 s at the earliest, then 60, 120, 240, 300', async (status, code) => {
    bank.onToken = (_request, response) => json(response, status, {});
    for (const seconds of [30, 60, 120, 240, 300, 300]) {
      const before = tokenRequests();
      expect((await askInTime(gateway)).json.code).toBe(code);
      expect(tokenRequests()).toBe(before + 1);
      clock.advance(seconds * 1000 - 500);
      expect((await askInTime(gateway)).json.code).toBe(code);
      expect(tokenRequests()).toBe(before + 1);
      // a fifth of jitter at most, and never beyond 300 s
      clock.advance(Math.min(seconds * 200, 300_000 - seconds * 1000) + 1000);
    }
    expect(gateway.events('bank.unavailable')).toHaveLength(1);
  });
});
