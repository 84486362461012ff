import { expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { LONGEST_WAIT_MS, MovedClock } from '../support/moved-clock.js';
import { json } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

// The rules for tokens are tested in src/auth/access-token-provider.spec.ts and src/auth/authorized-call.spec.ts.

const bank = await bankForFile();
const tokenRequests = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;
/** The number of the token, from 1, sent with each call for accounts. */
const sent = () =>
  bank.requests
    .filter(({ path }) => path.startsWith('/api/v1/accounts'))
    .map(({ headers }) => bank.tokens.findIndex((token) => headers.authorization === `Bearer ${token}`) + 1);

it('while renewals fail with 500, the old token is used until its end, and an expired token is never sent', async () => {
  const clock = new MovedClock();
  clock.stop();
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
  const answers = [await askInTime(gateway)];
  bank.onToken = (_request, response) => json(response, 500, '');
  clock.advance(256_000);
  for (let attempt = 1; attempt <= 3; attempt++) {
    // two callers per attempt
    answers.push(await askInTime(gateway), await askInTime(gateway));
    await until(() => gateway.events('token.failed').length === attempt);
    clock.advance(10_000);
  }
  expect(new Set(answers.map(({ json: { snapshot } }) => snapshot.stale))).toEqual(new Set([false]));
  expect(new Set(sent())).toEqual(new Set([1]));
  expect(tokenRequests()).toBe(1 + 3);
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

it("setting the machine's clock by an hour, forward and back, then back and forward, causes no error and no flood of calls", async () => {
  const clock = new MovedClock();
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
  await askInTime(gateway);
  for (const hours of [1, -1, -1, 1]) {
    const before = tokenRequests();
    clock.moveWall(hours * 3_600_000);
    const ask = () => askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    for (const { status, json: list } of answers) expect([status, list.snapshot?.stale]).toEqual([200, false]);
    // one after the step, and one more if a renewal was due anyway
    expect(tokenRequests() - before).toBeLessThanOrEqual(2);
  }
  expect(gateway.events('request.failed')).toEqual([]);
});
