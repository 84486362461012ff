import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { control, start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('life', () => {
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
      // the cached copy is served, marked; the expired token is not
      expect(late.status).toBe(200);
      expect(late.json.snapshot.stale).toBe(true);
      expect(bank.requests.length - tokenRequests()).toBe(listsBefore);

      repair(bank);
      clock.advance(LONGEST_WAIT_MS);
      answers.push(await ask());
      expect(answers.at(-1)?.json.snapshot.stale).toBe(false);
      await expectCommonConditions(bank, gateway, answers);
    });
  });
});

describe('a token that ages while its call waits for a turn', () => {
  it.each([
    ['past its end: another is sent', 50_000, 2],
    ['within its life: it is sent', 10_000, 1],
  ])('%s', async (_name, waitedMs, sent) => {
    const bank = await startPretendBank();
    repair(bank);
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', BANK_MAX_CONCURRENT_REQUESTS: '1' }, clock);
    const first = await askInTime(gateway);

    // its renewal has the only turn, and is slow
    const issue = bank.onToken;
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    bank.onToken = (...args) => void letGo.then(() => issue(...args));
    clock.advance(256_000);
    const answer = askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    await until(() => bank.requests.length === 3);
    clock.advance(waitedMs);
    resolve();
    expect((await answer).status).toBe(200);
    const last = bank.requests.findLast(({ path }) => path.startsWith('/api/v1/accounts'));
    expect(last?.headers.authorization).toBe(`Bearer ${bank.tokens[sent - 1]}`);
    expect(bank.tokens).toHaveLength(2);
    await expectCommonConditions(bank, gateway, [first, await answer]);
  });
});

const tokensOf = (sandbox: Sandbox) => sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize').length;
const tokenRequests = (bank: PretendBank) => bank.requests.filter(({ path }) => path.includes('authorize')).length;
const listRequests = (bank: PretendBank) => bank.requests.length - tokenRequests(bank);

describe('a revoked token is healed within the call', () => {
  it('the next call is answered 200, with exactly one more token request', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '0' });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(tokensOf(sandbox)).toBe(1);
    await control(sandbox, 'PATCH', { revokeTokens: true });
    const answer = await askInTime(gateway);
    expect(answer.status).toBe(200);
    expect(answer.json.snapshot).toMatchObject({ stale: false, complete: true });
    expect(tokensOf(sandbox)).toBe(2);
    const lists = sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts');
    expect(lists.map(({ status, tokenNumber }) => [status, tokenNumber])).toEqual([
      [200, 1],
      [401, 1],
      [200, 2],
    ]);
    expect(gateway.events('token.rejected')).toHaveLength(1);
    expect(gateway.events('bank.unavailable')).toEqual([]);
  });

  it('the counterpart: 401 always is bounded, and reported as bank-refused', async () => {
    const bank = await startPretendBank();
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
    bank.onAccounts = (_request, response) => json(response, 401, {});
    const answers = [];
    for (let call = 0; call < 20; call++) answers.push(await askInTime(gateway));
    expect(new Set(answers.map(({ json: { code } }) => code))).toEqual(new Set(['bank-refused']));
    expect(tokenRequests(bank)).toBe(2);
    expect(listRequests(bank)).toBe(2);
    // the wait over, one probe; but no second forced renewal within 5 s
    clock.advance(1500);
    answers.push(await askInTime(gateway));
    expect(tokenRequests(bank)).toBe(2);
    expect(listRequests(bank)).toBe(3);
    clock.advance(10_000);
    answers.push(await askInTime(gateway));
    expect(tokenRequests(bank)).toBe(3);
    expect(answers.at(-1)?.json.code).toBe('bank-refused');

    bank.onAccounts = listSample();
    clock.advance(40_000);
    await until(async () => (await askInTime(gateway)).status === 200);
    await expectCommonConditions(bank, gateway, answers);
  });

  it('the same token again and again is bounded too', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank);
    bank.onToken = issueToken(bank, { access_token: 'always-the-same' });
    bank.onAccounts = (_request, response) => json(response, 401, {});
    const answers = await Promise.all(Array.from({ length: 20 }, () => askInTime(gateway)));
    expect(new Set(answers.map(({ json: { code } }) => code))).toEqual(new Set(['bank-refused']));
    expect([tokenRequests(bank), listRequests(bank)]).toEqual([2, 2]);
    await expectCommonConditions(bank, gateway, answers);
  });
});
