import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { VERSION } from '../../src/version.js';
import { cleanUp, control, start } from '../support/sandbox.js';
import { closeGateways, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
  await cleanUp();
});

const tokens = (sandbox: Sandbox) => sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize').length;

describe('health tells the whole picture', () => {
  it('ok: every part with what the contract promises of it', async () => {
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
        lastSuccessAt: expect.stringMatching(/Z$/),
        lastError: null,
        circuit: 'closed',
      },
      snapshot: { status: 'up', asOf: expect.stringMatching(/Z$/), ageSeconds: 0, accounts: 120, stale: false },
      egress: { status: 'up', route: 'direct' },
    };
    expect(json).toMatchObject({ status: 'ok', error: {}, details, info: details, version: VERSION });
    expect(json.details.token.expiresInSeconds).toBeGreaterThan(290);
    expect(Object.keys(json.details).sort()).toEqual(['bank', 'certificate', 'egress', 'snapshot', 'token']);
  });

  it('live and ready say the status only', async () => {
    const gateway = await startGateway(await start());
    for (const path of ['/health/live', '/health/ready']) {
      const { status, json } = await gateway.get(path);
      expect([status, json]).toEqual([200, { status: 'ok' }]);
    }
  });

  it('asking for health costs at most one token per life, and nothing more', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
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
    expect(sandbox.requests.map(({ endpoint }) => endpoint)).toEqual(['authorize']);
    // due for renewal, but there is no work for it
    clock.advance(80_000);
    await probe();
    expect(tokens(sandbox)).toBe(1);
    clock.advance(30_000);
    await probe();
    expect(tokens(sandbox)).toBe(2);
    expect(sandbox.requests).toHaveLength(2);
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
      token: { status: 'down', state: 'waiting', lastError: 'bank-unavailable' },
      bank: { status: 'down', lastError: { code: 'bank-unavailable' }, circuit: 'open' },
    });
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
    expect(await circuit()).toBe('closed');
    await control(sandbox, 'PATCH', { failNext: { endpoint: 'accounts', times: 1, with: '500' } });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(503);
    expect(await circuit()).toBe('open');
    clock.advance(2000);
    await until(async () => (await circuit()) === 'closed');
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  });

  it('a stopping instance is not ready, and still serves until it drains', async () => {
    const gateway = await startGateway(await start(), { SHUTDOWN_DELAY_MS: '2000' });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    const closed = gateway.close();
    await until(async () => (await gateway.get('/health/ready')).status === 503);
    expect((await gateway.get('/health/live')).status).toBe(200);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await closed;
  });

  it('a dead proxy is told of the way out, not of the bank alone', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { EGRESS_PROXY_URL: 'http://127.0.0.1:9' });
    const { status, headers, json } = await gateway.get('/health');
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(json.details.egress).toEqual({ status: 'down', route: 'proxy http://127.0.0.1:9' });
    expect(json.details.bank.lastError.code).toBe('proxy-unavailable');
  });

  it('a copy that has grown too old to be served, while the bank fails, is not called well', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, { SNAPSHOT_STALE_MS: '20000' }, clock);
    await gateway.get('/api/v1/accounts');
    await control(sandbox, 'PATCH', { failNext: { endpoint: 'accounts', times: 1000, with: '500' } });
    clock.advance(15_000);
    expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(true);
    clock.advance(10_000);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(503);
    expect((await gateway.get('/health')).json.details.snapshot).toMatchObject({ status: 'degraded', stale: true });
  });
});
