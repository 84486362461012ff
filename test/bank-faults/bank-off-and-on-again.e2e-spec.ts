import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { start } from '../support/sandbox.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway, type Answer } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { closedPort } from '../support/servers.js';
import { until } from '../support/until.js';

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

  it('off while a copy is held: the copy is served, marked, until it is too old; then the problem; then a new one', async () => {
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
