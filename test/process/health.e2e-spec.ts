import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { PROBLEMS } from '../../src/problems/problem-table.js';
import { AppModule } from '../../src/app.module.js';
import { VERSION } from '../../src/config/version.js';
import { control, start } from '../support/sandbox.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

const tokens = (sandbox: Sandbox) => sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize').length;

describe('health', () => {
  it('ok: every part with what is documented of it', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox);
    await gateway.get('/api/v1/accounts');
    const { status, headers, json } = await gateway.get('/health');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    const pfx = openPfx(readFileSync(sandbox.files.pfx), readFileSync(sandbox.files.passcode, 'utf8'));
    const leaf = new X509Certificate(pfx.certificatePems[0] ?? '');
    const details = {
      certificate: {
        status: 'up',
        subject: expect.stringContaining('sandbox-m2m'),
        thumbprint: leaf.fingerprint.replaceAll(':', ''),
        notAfter: leaf.validToDate.toISOString(),
        daysLeft: 364,
      },
      token: { status: 'up', state: 'usable', expiresInSeconds: expect.any(Number), lastError: null },
      bank: {
        status: 'up',
        mode: 'live',
        host: new URL(sandbox.url).host,
        failingSince: null,
        attempts: null,
        nextAttemptAt: null,
        lastSuccessAt: expect.stringMatching(/Z$/),
        lastError: null,
        circuit: 'closed',
      },
      snapshot: {
        status: 'up',
        asOf: expect.stringMatching(/Z$/),
        expiresAt: expect.stringMatching(/Z$/),
        ageSeconds: expect.any(Number),
        accounts: 120,
        stale: false,
      },
      egress: { status: 'up', route: 'direct' },
    };
    expect(json).toMatchObject({
      status: 'ok',
      error: {},
      details,
      info: details,
      version: VERSION,
      environment: null,
      instance: hostname(),
    });
    const { asOf, expiresAt } = json.details.snapshot;
    // by two clocks, which differ by a little
    expect(Math.abs(Date.parse(expiresAt) - Date.parse(asOf) - 300_000)).toBeLessThan(100);
    expect(Object.keys(json)).toEqual([
      'status',
      'version',
      'commit',
      'environment',
      'instance',
      'info',
      'error',
      'details',
    ]);
    expect(json.details.token.expiresInSeconds).toBeGreaterThan(290);
    expect(Object.keys(json.details).sort()).toEqual(['bank', 'certificate', 'egress', 'snapshot', 'token']);
  });

  it('asking for health costs at most one token per life, and nothing more', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    await until(async () => (await gateway.get('/health/ready')).status === 200);
    const probe = async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => gateway.get(index % 2 ? '/health' : '/health/ready')),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    };
    await probe();
    await probe();
    clock.advance(200_000);
    await probe();
    // one refresh, without which it would not be ready
    expect(sandbox.requests.map(({ endpoint }) => endpoint)).toEqual(['authorize', 'accounts']);
    // due for renewal, but there is no work for it
    clock.advance(80_000);
    await probe();
    expect(tokens(sandbox)).toBe(1);
    clock.advance(30_000);
    await probe();
    expect(tokens(sandbox)).toBe(2);
    expect(sandbox.requests).toHaveLength(3);
  });

  it('while the bank is failing, health costs no more than the steps of retrying', async () => {
    const sandbox = await start();
    await control(sandbox, 'PATCH', { failNext: { endpoint: 'authorize', times: 1000, with: '503' } });
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    for (let second = 0; second < 60; second++) {
      expect((await gateway.get('/health/ready')).status).toBe(503);
      expect((await gateway.get('/health')).json.status).toBe('error');
      clock.advance(1000);
    }
    // 1, 2, 4, 8, 16, 30 s
    expect(tokens(sandbox)).toBeLessThanOrEqual(7);
    expect(tokens(sandbox)).toBeGreaterThanOrEqual(5);
    expect((await gateway.get('/health')).json.details).toMatchObject({
      token: {
        status: 'down',
        state: 'waiting',
        code: 'bank-error',
        owner: 'bank',
        lastError: { code: 'bank-error', at: expect.any(String) },
      },
      bank: { status: 'unknown', lastError: { code: 'bank-error' }, circuit: 'open', attempts: tokens(sandbox) },
    });
    const { failingSince, nextAttemptAt, lastError } = (await gateway.get('/health')).json.details.bank;
    expect(Date.parse(failingSince)).toBeLessThan(Date.parse(lastError.at));
    expect(Date.parse(nextAttemptAt)).toBeGreaterThan(Date.parse(lastError.at));
  });

  it('a bank that does not answer holds up a probe for half a second at most', async () => {
    const bank = await startPretendBank();
    bank.onToken = () => undefined;
    const gateway = await startGateway(bank);
    const started = performance.now();
    expect((await gateway.get('/health/ready')).status).toBe(503);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(bank.requests).toHaveLength(1);
    const live = performance.now();
    expect((await gateway.get('/health/live')).status).toBe(200);
    expect(performance.now() - live).toBeLessThan(500);
  });

  it('live looks at nothing: it costs the bank no call', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox);
    for (let probe = 0; probe < 10; probe++) await gateway.get('/health/live');
    expect(sandbox.requests).toEqual([]);
  });

  it('circuit follows the waiting: closed, open, half-open, closed', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    const circuit = async () => (await gateway.get('/health')).json.details.bank.circuit;
    await until(async () => (await gateway.get('/health/ready')).status === 200);
    expect(await circuit()).toBe('closed');
    await control(sandbox, 'PATCH', { failNext: { endpoint: 'accounts', times: 1, with: '500' } });
    // a refresh of the last second counts as now
    clock.advance(2000);
    const failed = await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect(failed.status).toBe(503);
    expect(await circuit()).toBe('open');
    clock.advance(2000);
    await until(async () => (await circuit()) === 'closed');
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  });

  it('is not ready before accounts were read: a bank that has granted none keeps an old instance in its place', async () => {
    const sandbox = await start();
    await control(sandbox, 'PATCH', { grantAccess: false });
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    await until(() => gateway.events('snapshot.failed').length > 0 || gateway.get('/health/ready').then(() => false));
    expect((await gateway.get('/health/ready')).status).toBe(503);
    const { status, json } = await gateway.get('/health');
    expect([status, json.status]).toEqual([503, 'error']);
    const cause = { code: 'access-not-granted', owner: 'bank', remedy: PROBLEMS['access-not-granted'].remedy };
    for (const part of ['bank', 'snapshot']) {
      expect(json.details[part]).toMatchObject({ status: 'down', ...cause, detail: expect.stringContaining('404') });
    }
    expect(Object.keys(json.details).slice(0, 2)).toEqual(['bank', 'snapshot']);
    expect(json.details.token.status).toBe('up');

    // granted: ready again by itself, without a caller
    await control(sandbox, 'PATCH', { grantAccess: true });
    clock.advance(60_000);
    await until(async () => (await gateway.get('/health/ready')).status === 200);
    expect((await gateway.get('/health')).json).toMatchObject({ status: 'ok', error: {} });
  });

  it('says why while nothing was read yet, and when it is stopping', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = () => undefined;
    const gateway = await startGateway(bank, { SHUTDOWN_DELAY_MS: '2000' });
    const early = await gateway.get('/health');
    expect(early.status).toBe(503);
    expect(early.json.details.snapshot).toMatchObject({
      status: 'down',
      owner: 'bank',
      detail: expect.stringMatching(/first refresh/),
    });
    const closed = gateway.close();
    await until(async () => (await gateway.get('/health')).json.details.instance !== undefined);
    const { json } = await gateway.get('/health');
    await closed;
    expect(Object.entries(json.details)[0]).toMatchObject([
      'instance',
      { status: 'down', code: 'stopping', owner: 'operator' },
    ]);
  });

  it('a dead proxy is reported at egress, not at the bank alone', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { EGRESS_PROXY_URL: 'http://127.0.0.1:9' });
    const { status, headers, json } = await gateway.get('/health');
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(json.details.egress).toEqual({
      status: 'down',
      code: 'proxy-unavailable',
      owner: 'network',
      detail: expect.stringContaining('ECONNREFUSED'),
      remedy: PROBLEMS['proxy-unavailable'].remedy,
      route: 'proxy http://127.0.0.1:9',
    });
    // the cause first, then what nobody tried, then what is healthy
    expect(Object.keys(json.details)).toEqual(['egress', 'snapshot', 'token', 'bank', 'certificate']);
    expect(Object.keys(json.details.egress).slice(0, 3)).toEqual(['status', 'code', 'owner']);
    expect(json.details.bank.lastError.code).toBe('proxy-unavailable');
  });

  it('a snapshot past its maximum age, while the bank fails, is down', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, { SNAPSHOT_MAX_AGE_MS: '20000' }, clock);
    await gateway.get('/api/v1/accounts');
    await control(sandbox, 'PATCH', { failNext: { endpoint: 'accounts', times: 1000, with: '500' } });
    clock.advance(15_000);
    expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(true);
    clock.advance(10_000);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(503);
    expect((await gateway.get('/health')).json.details.snapshot).toMatchObject({
      status: 'down',
      code: 'bank-error',
      detail: expect.stringMatching(/^The cached snapshot expired at .*Z\. Apps get errors/),
    });
  });

  it('no accounts after some is degraded until SIGHUP', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    await gateway.get('/api/v1/accounts');
    await control(sandbox, 'PATCH', { accounts: 0 });
    clock.advance(11_000);
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(0);
    const emptied = (await gateway.get('/health')).json;
    expect([emptied.status, emptied.details.snapshot.code]).toEqual(['degraded', 'accounts-emptied']);
    gateway.app.get(AppModule).reload();
    expect((await gateway.get('/health')).json.status).toBe('ok');
  });
});
