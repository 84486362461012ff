import { mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { remedyOf } from '../../src/errors/problem-table.js';
import { AppModule } from '../../src/app.module.js';
import { VERSION } from '../../src/config/build-output.js';
import { temporaryDirectory } from '../support/closing.js';
import { scrape } from '../support/scrape.js';
import { start } from '../support/sandbox.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { until } from '../support/until.js';

const tokens = (sandbox: Sandbox) => sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize').length;

describe('health', () => {
  let sandbox: Sandbox;
  let clock: MovedClock;
  let gateway: Gateway;
  beforeAll(async () => {
    sandbox = await start({ SANDBOX_AUTH_PORT: 0 });
    clock = new MovedClock();
    gateway = await startGateway(sandbox, {}, clock);
  });

  it('is ok, with every component as documented', async () => {
    expect((await gateway.get('/health/live')).status).toBe(200);
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
    // one is derived from the other, with another clock
    expect(Math.abs(Date.parse(expiresAt) - Date.parse(asOf) - 300_000)).toBeLessThan(5000);
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

  it("is degraded while the clock differs from the bank's by 10 minutes", async () => {
    clock.moveWall(600_000);
    clock.moveMonotonic(11_000);
    await gateway.get('/api/v1/accounts');
    const skewed = await gateway.get('/health');
    expect([skewed.status, skewed.json.status]).toEqual([200, 'degraded']);
    expect(skewed.json.details.bank).toMatchObject({
      status: 'degraded',
      code: 'clock-skewed',
      owner: 'operator',
      detail: expect.stringMatching(/^The clock of this machine is (59|60)\d s ahead of the bank's\.$/),
    });
    clock.moveWall(-600_000);
    clock.moveMonotonic(11_000);
    await gateway.get('/api/v1/accounts');
    expect((await gateway.get('/health')).json.status).toBe('ok');
  });

  it('is degraded when accounts disappear, even after SIGHUP', async () => {
    sandbox.control.patch({ accounts: 0 });
    clock.advance(11_000);
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(0);
    const emptied = (await gateway.get('/health')).json;
    expect([emptied.status, emptied.details.snapshot.code]).toEqual(['degraded', 'accounts-emptied']);
    gateway.app.get(AppModule).reload();
    expect((await gateway.get('/health')).json.status).toBe('degraded');
    sandbox.control.reset();
  });

  it('is ready after hours without a call, and the gauge agrees', async () => {
    await gateway.get('/api/v1/accounts');
    clock.advance(3 * 3_600_000);
    const before = tokens(sandbox);
    const seen = await scrape(gateway);
    expect(seen.value('accounts_gateway_ready')).toBe(1);
    expect(seen.value('accounts_gateway_token_expiry_timestamp_seconds')).toBeNull();
    expect(tokens(sandbox)).toBe(before);
    // the probe finds out whether a call would succeed
    expect((await gateway.get('/health/ready')).status).toBe(200);
    expect(tokens(sandbox)).toBe(before + 1);
    expect((await gateway.get('/health')).json.details.token.status).toBe('up');
  });
});

describe('health of a gateway in trouble', () => {
  it('shows, while the bank fails, the start of the failure, the number of attempts and the next attempt', async () => {
    const sandbox = await start();
    sandbox.control.patch({ failNext: [{ endpoint: 'authorize', times: 1000, with: '503' }] });
    const clock = new MovedClock();
    clock.stop();
    const gateway = await startGateway(sandbox, {}, clock);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      // waits for an attempt, unlike health
      expect((await gateway.get('/api/v1/accounts')).status).toBe(503);
      expect((await gateway.get('/health')).status).toBe(503);
    }
    const { details } = (await gateway.get('/health')).json;
    expect(details).toMatchObject({
      token: { status: 'down', state: 'waiting', code: 'bank-error', owner: 'bank', lastError: { code: 'bank-error' } },
      bank: { status: 'unknown', lastError: { code: 'bank-error' }, circuit: 'open', attempts: tokens(sandbox) },
    });
    const { failingSince, nextAttemptAt, lastError } = details.bank;
    expect(Date.parse(failingSince)).toBeLessThan(Date.parse(lastError.at));
    expect(Date.parse(nextAttemptAt)).toBeGreaterThan(Date.parse(lastError.at));
  });

  it('is not ready until it has read accounts, so a rollout stops when the bank has granted none', async () => {
    const sandbox = await start();
    sandbox.control.patch({ grantAccess: false });
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    await until(() => gateway.events('snapshot.failed').length > 0 || gateway.get('/health/ready').then(() => false));
    expect((await gateway.get('/health/ready')).status).toBe(503);
    const { status, json } = await gateway.get('/health');
    expect([status, json.status]).toEqual([503, 'error']);
    const cause = { code: 'access-not-granted', owner: 'bank', remedy: remedyOf('access-not-granted') };
    for (const part of ['bank', 'snapshot']) {
      expect(json.details[part]).toMatchObject({ status: 'down', ...cause, detail: expect.stringContaining('404') });
    }
    expect(Object.keys(json.details).slice(0, 2)).toEqual(['bank', 'snapshot']);
    expect(json.details.token.status).toBe('up');

    // once granted, it becomes ready without a caller
    sandbox.control.patch({ grantAccess: true });
    clock.advance(20_000);
    await until(async () => (await gateway.get('/health/ready')).status === 200);
    expect((await gateway.get('/health')).json).toMatchObject({ status: 'ok', error: {} });
  });

  it('reports a dead proxy at egress, not only at the bank', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { EGRESS_PROXY_URL: 'http://127.0.0.1:9' });
    // waits for the failure, as long as it takes
    expect((await gateway.get('/api/v1/accounts')).json.code).toBe('proxy-unavailable');
    const { status, headers, json } = await gateway.get('/health');
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(json.details.egress).toEqual({
      status: 'down',
      code: 'proxy-unavailable',
      owner: 'network',
      detail: expect.stringContaining('ECONNREFUSED'),
      remedy: remedyOf('proxy-unavailable'),
      route: 'proxy http://127.0.0.1:9',
      proxy: '127.0.0.1:9',
      publicAddress: null,
    });
    // the cause first, then untried components, then healthy ones
    expect(Object.keys(json.details)).toEqual(['egress', 'snapshot', 'token', 'bank', 'certificate']);
    expect(Object.keys(json.details.egress).slice(0, 3)).toEqual(['status', 'code', 'owner']);
    expect(json.details.bank.lastError.code).toBe('proxy-unavailable');
  });

  it('is degraded while SNAPSHOT_FILE cannot be written; both changes are logged once', async () => {
    const clock = new MovedClock();
    const directory = join(temporaryDirectory(), 'missing');
    const gateway = await startGateway(await start(), { SNAPSHOT_FILE: join(directory, 'snapshot') }, clock);
    await gateway.get('/api/v1/accounts');
    await until(async () => (await gateway.get('/health')).json.status === 'degraded');
    const { snapshot } = (await gateway.get('/health')).json.details;
    expect(snapshot).toMatchObject({
      status: 'degraded',
      code: 'snapshot-not-stored',
      owner: 'operator',
      stale: false,
    });
    expect(snapshot.detail).toContain('cannot be written: its directory does not exist (ENOENT). After');
    mkdirSync(directory);
    clock.advance(11_000);
    await gateway.get('/api/v1/accounts');
    // a pending copy is written when the process stops
    await gateway.close();
    const line = {
      what: 'file',
      code: 'snapshot-not-stored',
      owner: 'operator',
      reason: 'its directory does not exist (ENOENT)',
    };
    expect(gateway.events('sharing.unavailable')).toMatchObject([line]);
    expect(gateway.events('sharing.recovered')).toMatchObject([{ what: 'file' }]);
  });

  it('is degraded with no accounts after a restart, even while the empty list is stale', async () => {
    const sandbox = await start();
    sandbox.control.patch({ accounts: 0 });
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, {}, clock);
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(0);
    const emptied = { code: 'accounts-emptied', owner: 'bank', detail: expect.stringContaining('none since') };
    const read = async () => (await gateway.get('/health')).json;
    expect(await read()).toMatchObject({ status: 'degraded', details: { snapshot: { ...emptied, stale: false } } });
    expect((await scrape(gateway)).value('accounts_gateway_snapshot_accounts')).toBe(0);
    expect(gateway.events('snapshot.emptied')).toEqual([]);
    sandbox.control.patch({ failNext: [{ endpoint: 'accounts', times: 1000, with: '500' }] });
    clock.advance(11_000);
    await gateway.get('/api/v1/accounts');
    expect(await read()).toMatchObject({ status: 'degraded', details: { snapshot: { ...emptied, stale: true } } });
  });
});
