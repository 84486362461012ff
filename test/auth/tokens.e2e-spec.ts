import { beforeEach, expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

// The rules of a token are tested in src/auth/access-token-provider.spec.ts and src/auth/authorized-call.spec.ts.

const bank = await bankForFile();
let clock: MovedClock;
beforeEach(() => {
  clock = new MovedClock();
  clock.stop();
});

const tokenRequests = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;
/** The number of the token, from 1, that each call for accounts was sent with. */
const sent = () =>
  bank.requests
    .filter(({ path }) => path.startsWith('/api/v1/accounts'))
    .map(({ headers }) => bank.tokens.findIndex((token) => headers.authorization === `Bearer ${token}`) + 1);

it.each([
  ['past its end: another is sent', 50_000, 2],
  ['within its life: it is sent', 10_000, 1],
])('a token that ages while its call waits for a slot %s', async (_name, waitedMs, number) => {
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', BANK_MAX_CONCURRENT_REQUESTS: '1' }, clock);
  const first = await askInTime(gateway);

  // the slow renewal has the only slot
  const issue = bank.onToken;
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  bank.onToken = (...args) => void letGo.then(() => issue(...args));
  clock.advance(256_000);
  const answer = askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
  await until(() => bank.requests.length === 3);
  clock.advance(waitedMs);
  resolve();
  expect((await answer).status).toBe(200);
  expect([sent().at(-1), bank.tokens.length]).toEqual([number, 2]);
  await expectCommonConditions(bank, gateway, [first, await answer]);
});

it('while renewals fail with 500, the old token is used until its end, attempts back off, and an expired token is never sent', async () => {
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
  const answers = [await askInTime(gateway)];
  bank.onToken = (_request, response) => json(response, 500, '');
  clock.advance(256_000);
  // attempts over the next 30 s: after 1, 2, 4, 8 and 16 s, each up to a fifth later, however many callers there are
  for (let second = 0; second <= 30; second++) {
    const before = gateway.events('token.failed').length;
    answers.push(await askInTime(gateway));
    if (tokenRequests() - 1 > before) await until(() => gateway.events('token.failed').length > before);
    clock.advance(1000);
  }
  expect(new Set(answers.map(({ json: { snapshot } }) => snapshot.stale))).toEqual(new Set([false]));
  expect(new Set(sent())).toEqual(new Set([1]));
  expect([5, 6]).toContain(tokenRequests() - 1);
  const health = (await gateway.get('/health')).json;
  const token = { status: 'degraded', state: 'usable', lastError: { code: 'bank-error' } };
  expect(health).toMatchObject({ status: 'degraded', details: { token } });

  // the outage outlasts the token: callers get the cached copy, marked stale, and the expired token is not sent
  clock.advance(20_000);
  const lists = sent().length;
  const late = await askInTime(gateway);
  expect([late.status, late.json.snapshot.stale, sent().length]).toEqual([200, true, lists]);

  repair(bank);
  clock.advance(LONGEST_WAIT_MS);
  const last = await askInTime(gateway);
  expect(last.json.snapshot.stale).toBe(false);
  await expectCommonConditions(bank, gateway, [...answers, late, last]);
});
