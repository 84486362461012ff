import { mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { healthSchema } from '../../src/operations/health/health-schemas.js';
import { remedyOf } from '../../src/errors/problem-table.js';
import { VERSION } from '../../src/config/build-output.js';
import { temporaryDirectory } from '../support/closing.js';
import { start } from '../support/sandbox.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { until } from '../support/until.js';

const tokens = (sandbox: Sandbox) => sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize').length;

describe('/health', () => {
  it('is ok, with every component as documented', async () => {
    const sandbox = await start({ SANDBOX_AUTH_PORT: 0 });
    const gateway = await startGateway(sandbox);
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
      token: { status: 'up', state: 'usable', lastError: null },
      bank: { status: 'up', mode: 'live', host: new URL(sandbox.url).host, lastError: null, circuit: 'closed' },
      snapshot: { status: 'up', accounts: 120, stale: false },
      egress: { status: 'up', route: 'direct' },
    };
    expect(healthSchema.strict().parse(json)).toMatchObject({
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
    expect(json.details.token.expiresInSeconds).toBeGreaterThan(290);
    expect(Object.keys(json.details).sort()).toEqual(['bank', 'certificate', 'egress', 'snapshot', 'token']);
  });

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
});
