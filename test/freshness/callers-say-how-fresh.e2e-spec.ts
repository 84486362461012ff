import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime } from '../support/common-conditions.js';
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
  gateway = await startGateway(bank, { SNAPSHOT_SOFT_TIMEOUT_MS: '150', REQUEST_DEADLINE_MS: '600' }, clock);
});

const readings = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;
const ask = (cacheControl?: string) =>
  askInTime(gateway, '/api/v1/accounts', cacheControl === undefined ? {} : { 'cache-control': cacheControl });
/** From now on the bank takes its time. */
const slow = (ms: number) => {
  const good = listSample();
  bank.onAccounts = (...args) => void delay(ms).then(() => good(...args));
};

describe('callers say how fresh', () => {
  it('nothing said: a young copy without asking the bank, with its age and what is left of it', async () => {
    const first = await ask();
    expect(first.headers).toMatchObject({ age: '0', 'snapshot-stale': 'false', 'snapshot-complete': 'true' });
    expect(first.headers['cache-status']).toMatch(/^accounts-gateway; fwd=miss/);
    expect(first.headers['cache-control']).toMatch(/^private, max-age=(9|10)$/);
    clock.advance(6000);
    const second = await ask();
    expect(readings()).toBe(1);
    expect(second.headers['cache-status']).toMatch(/^accounts-gateway; hit/);
    expect(second.headers['cache-control']).toBe('private, max-age=3');
    expect(second.headers.age).toBe('6');
    expect(second.headers['snapshot-as-of']).toBe(first.json.snapshot.asOf);
    clock.advance(5000);
    const third = await ask();
    expect(readings()).toBe(2);
    expect(third.headers['cache-status']).toMatch(/^accounts-gateway; fwd=stale/);
    expect(third.json.snapshot).toMatchObject({ stale: false });
  });

  it('no-cache asks the bank now, once for all who ask at the same moment', async () => {
    await ask();
    clock.advance(2000);
    slow(50);
    const answers = await Promise.all([ask('no-cache'), ask('no-cache'), ask('no-cache'), ask('max-age=0')]);
    expect(answers.map(({ json: { snapshot } }) => snapshot.stale)).toEqual([false, false, false, false]);
    expect(new Set(answers.map(({ json: { snapshot } }) => snapshot.asOf)).size).toBe(1);
    expect(readings()).toBe(2);
    // a reading of this very second is now
    await ask('no-cache');
    expect(readings()).toBe(2);
    clock.advance(1100);
    await ask('no-cache');
    expect(readings()).toBe(3);
  });

  it('max-age=N takes a copy that young, and asks for a newer one otherwise', async () => {
    await ask();
    clock.advance(4000);
    await ask('max-age=5');
    expect(readings()).toBe(1);
    await ask('max-age=3');
    expect(readings()).toBe(2);
    clock.advance(4000);
    // the smaller of several max-age counts; letter case does not matter
    await ask('Foo=bar, MAX-AGE=3');
    expect(readings()).toBe(3);
    clock.advance(11_000);
    // no max-age makes an old copy fresh
    await ask('max-age=3600');
    expect(readings()).toBe(4);
  });

  it('only-if-cached gives what is held, marked, and never asks', async () => {
    const nothing = await ask('only-if-cached');
    expect(nothing.json).toMatchObject({ status: 504, code: 'not-cached', owner: 'caller' });
    expect(bank.requests).toEqual([]);
    await ask();
    clock.advance(60_000);
    const held = await ask('only-if-cached');
    expect(held.status).toBe(200);
    expect(held.json.snapshot.stale).toBe(true);
    expect((await ask('only-if-cached, max-age=30')).json.code).toBe('not-cached');
    clock.advance(250_000);
    expect((await ask('only-if-cached')).json.code).toBe('not-cached');
    expect(readings()).toBe(1);
  });

  it('a slow bank: past the soft timeout the older copy, marked, while the reading goes on for the next', async () => {
    await ask();
    clock.advance(11_000);
    slow(2000);
    const started = performance.now();
    const stale = await ask();
    expect(performance.now() - started).toBeLessThan(1500);
    expect(stale.json.snapshot.stale).toBe(true);
    await until(() => gateway.events('snapshot.refreshed').length === 2);
    const fresh = await ask();
    expect(fresh.json.snapshot.stale).toBe(false);
    expect(readings()).toBe(2);
  });

  it('who asked for now waits to the deadline, and is never given the older copy', async () => {
    await ask();
    clock.advance(11_000);
    slow(300);
    const [now, young, any] = await Promise.all([ask('no-cache'), ask('max-age=5'), ask()]);
    expect([now, young, any].map(({ json: { snapshot } }) => snapshot.stale)).toEqual([false, false, true]);
    clock.advance(11_000);
    slow(1500);
    const answers = await Promise.all([ask('no-cache'), ask('max-age=5'), ask()]);
    expect(answers.map(({ status }) => status)).toEqual([504, 504, 200]);
    expect(answers[0].json).toMatchObject({ code: 'bank-timeout', owner: 'bank' });
    await until(() => gateway.events('snapshot.refreshed').length === 3);
  });

  it('a failing bank: the error for who asked for now, the copy for the others; 404 drops the copy', async () => {
    await ask();
    clock.advance(11_000);
    bank.onAccounts = (_request, response) => json(response, 500, '');
    expect((await ask('no-cache')).json.code).toBe('bank-error');
    expect((await ask()).json.snapshot.stale).toBe(true);
    clock.advance(2000);
    bank.onAccounts = (_request, response) => json(response, 404, {});
    expect((await ask()).json.code).toBe('access-not-granted');
    expect((await ask('only-if-cached')).json.code).toBe('not-cached');
  });

  it('ages are taken by both clocks', async () => {
    await ask();
    clock.setWall(-3_600_000);
    clock.advanceMonotonic(11_000);
    await ask();
    expect(readings()).toBe(2);
    clock.setWall(3_600_000 + 11_000);
    await ask();
    expect(readings()).toBe(3);
  });

  it('beyond MAX_REQUESTS_WAITING callers are told so at once, and who waits is answered', async () => {
    await gateway.close();
    gateway = await startGateway(bank, { MAX_REQUESTS_WAITING: '5', REQUEST_DEADLINE_MS: '3000' }, clock);
    const good = listSample();
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    bank.onAccounts = (...args) => void letGo.then(() => good(...args));
    const waiting = Array.from({ length: 5 }, () => ask());
    await until(() => readings() === 1);
    // the last of the five may still be on its way in
    let told = await ask();
    await until(async () => (told = await ask()).json.code === 'overloaded');
    expect(told.json).toMatchObject({ status: 503, code: 'overloaded', owner: 'operator' });
    expect(told.headers['retry-after']).toBe('1');
    expect((await gateway.get('/health/live')).status).toBe(200);
    resolve();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await ask()).status).toBe(200);
  });
});
