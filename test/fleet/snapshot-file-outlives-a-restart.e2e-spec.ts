import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { AppModule } from '../../src/app.module.js';
import { temporaryDirectory } from '../support/closing.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json } from '../support/pretend-bank.js';
import { listSample, PLANTED } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

function bankAway(): void {
  bank.onToken = (_request, response) => json(response, 503, {});
  bank.onAccounts = (_request, response) => json(response, 503, {});
}

/** The file left behind by a run with three accounts, and the time at which they were read. */
async function runOnce(env: Record<string, string> = {}) {
  const file = join(temporaryDirectory(), 'snapshot');
  const gateway = await startGateway(bank, { SNAPSHOT_FILE: file, ...env });
  const { asOf } = (await gateway.get('/api/v1/accounts')).json.snapshot as { asOf: string };
  await gateway.close();
  return { file, bytes: readFileSync(file), asOf, tokens: [...bank.tokens] };
}

const earlier = await runOnce();

/** A new file with these bytes. */
function fileWith(bytes: Uint8Array = earlier.bytes): string {
  const file = join(temporaryDirectory(), 'snapshot');
  writeFileSync(file, bytes);
  return file;
}

/** A gateway with this file, `ageMs` after the earlier run by its clock, which stands still. */
function restart(file = fileWith(), ageMs = 1000): Promise<Gateway> {
  const clock = new MovedClock();
  clock.stop({ wall: Date.parse(earlier.asOf) + ageMs, monotonic: performance.now() });
  return startGateway(bank, { SNAPSHOT_FILE: file }, clock);
}

describe('the copy in SNAPSHOT_FILE', () => {
  it('is served after a restart while the bank is down, marked stale, and the instance is ready', async () => {
    bankAway();
    const gateway = await restart();
    const answer = await gateway.get('/api/v1/accounts');
    expect(answer.status).toBe(200);
    expect(answer.json.accounts).toHaveLength(3);
    const { asOf } = earlier;
    const expiresAt = new Date(Date.parse(asOf) + 300_000).toISOString();
    expect(answer.json.snapshot).toEqual({ asOf, expiresAt, stale: true, complete: true });
    expect(answer.headers['cache-status']).toMatch(/; fwd=stale; ttl=0(;|$)/);
    // even after the refresh has failed
    const cacheStatus = async () => (await gateway.get('/api/v1/accounts')).headers['cache-status'] ?? '';
    await until(async () => (await cacheStatus()).includes('detail='));
    expect(await cacheStatus()).toMatch(/; fwd=stale; ttl=0; detail=bank-error$/);
    expect((await gateway.get('/health/ready')).status).toBe(200);
    const health = (await gateway.get('/health')).json;
    expect(health.status).toBe('degraded');
    expect(health.details.snapshot).toMatchObject({ status: 'degraded', stale: true, accounts: 3 });
    expect(gateway.events('snapshot.refreshed')).toMatchObject([{ source: 'file', accounts: 3 }]);
    const metrics = (await gateway.get('/metrics')).text;
    expect(metrics).toContain('accounts_gateway_shared_snapshots_total{source="file"} 1\n');
    // there is no Redis, so no sharing_up
    expect(metrics).not.toContain('accounts_gateway_sharing_up');
    // a caller with no-cache gets the bank's error
    expect((await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' })).status).toBe(503);
  });

  it('is readable only by its owner, and shows no content', () => {
    const { file, bytes, tokens } = earlier;
    expect(tokens).toHaveLength(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const value of [...Object.values(PLANTED), 'Operating', bank.username, bank.password, ...tokens, bank.url])
      expect([value, bytes.includes(value)]).toEqual([value, false]);
    expect(readdirSync(join(file, '..'))).toEqual(['snapshot']);
  });

  it('is written at most every 10 s, and when the instance stops', async () => {
    const file = join(temporaryDirectory(), 'snapshot');
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: file, SNAPSHOT_FRESH_MS: '0' });
    await gateway.get('/api/v1/accounts');
    await until(() => statSync(file, { throwIfNoEntry: false }) !== undefined);
    const first = readFileSync(file);
    await gateway.get('/api/v1/accounts');
    expect(readFileSync(file)).toEqual(first);
    await gateway.close();
    expect(readFileSync(file)).not.toEqual(first);
  });

  it('is ignored and logged once when it is damaged or too large', async () => {
    // sealing.spec.ts alters each part of the copy
    const damaged = fileWith(earlier.bytes.with(earlier.bytes.length - 1000, earlier.bytes.at(-1000)! ^ 1));
    const large = fileWith();
    // a sparse file, which takes up no space
    truncateSync(large, 513 * 2 ** 20);
    for (const [reason, file] of [
      ['damaged', damaged],
      ['too-large', large],
      ['unreadable', fileWith(Buffer.alloc(0))],
    ] as const) {
      const gateway = await restart(file);
      expect(gateway.events('sharing.refused')).toMatchObject([{ what: 'file', reason, level: 'warn' }]);
      expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(false);
    }
  });

  it('is ignored when it is too old or in the future by the wall clock', async () => {
    bankAway();
    for (const [ageMs, served] of [
      [290_000, 'file'],
      [300_001, undefined],
      [-600_000, undefined],
    ] as const) {
      const gateway = await restart(fileWith(), ageMs);
      expect(gateway.events('snapshot.refreshed')[0]?.['source']).toBe(served);
      expect(gateway.events('sharing.refused').map(({ reason }) => reason)).toEqual(served ? [] : ['too-old']);
      if (served) {
        const { headers } = await gateway.get('/api/v1/accounts');
        expect(headers['age']).toBe('290');
      }
    }
  });

  it('cannot be decrypted by another identity, but can be by a renewed certificate with SNAPSHOT_KEY_FILE', async () => {
    const keyFile = join(temporaryDirectory(), 'key');
    writeFileSync(keyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
    const withKey = await runOnce({ SNAPSHOT_KEY_FILE: keyFile });
    const { pfx, passcode } = await bank.issueClient('renewed');
    const renewed = { BANK_PFX_FILE: fileWith(pfx), BANK_PFX_PASSCODE: passcode, BANK_PFX_PASSCODE_FILE: '' };
    bankAway();
    for (const [env, reasons, status] of [
      [{ SNAPSHOT_FILE: fileWith() }, ['foreign'], 503],
      [{ SNAPSHOT_FILE: withKey.file, SNAPSHOT_KEY_FILE: keyFile }, [], 200],
    ] as const) {
      const gateway = await startGateway(bank, { ...renewed, ...env });
      expect(gateway.events('sharing.refused').map(({ reason }) => reason)).toEqual(reasons);
      expect((await gateway.get('/api/v1/accounts')).status).toBe(status);
    }
  });

  it('is not current for a caller with no-cache, although the clock was set back since it was written', async () => {
    bank.onAccounts = listSample(2);
    const gateway = await restart(fileWith(), -900);
    expect(gateway.events('snapshot.refreshed')[0]?.['source']).toBe('file');
    const answer = await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect([answer.json.accounts.length, answer.json.snapshot.stale]).toEqual([2, false]);
  });

  it('is deleted when access is withdrawn', async () => {
    bank.onAccounts = (_request, response) => json(response, 404, {});
    const file = fileWith();
    const gateway = await restart(file);
    expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(true);
    await until(() => statSync(file, { throwIfNoEntry: false }) === undefined);
    expect((await gateway.get('/api/v1/accounts')).json.code).toBe('access-not-granted');
    await gateway.close();
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });

  it.each(['written', 'deleted'])('is reported if it cannot be %s because its folder became a file', async (task) => {
    const directory = join(temporaryDirectory(), 'volume');
    mkdirSync(directory);
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: join(directory, 'snapshot'), SNAPSHOT_FRESH_MS: '0' });
    rmdirSync(directory);
    writeFileSync(directory, '');
    if (task === 'deleted') bank.onAccounts = (_request, response) => json(response, 404, {});
    await gateway.get('/api/v1/accounts');
    await until(() => gateway.events('sharing.unavailable').length > 0);
    expect(gateway.events('sharing.unavailable')).toMatchObject([{ what: 'file', code: 'snapshot-not-stored' }]);
  });

  it('is reported as failing until it has been written, not until it has been deleted', async () => {
    const directory = join(temporaryDirectory(), 'volume');
    mkdirSync(directory);
    const env = { SNAPSHOT_FILE: join(directory, 'snapshot'), SNAPSHOT_FRESH_MS: '0' };
    const gateway = await startGateway(bank, env);
    rmdirSync(directory);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await until(() => gateway.events('sharing.unavailable').length > 0);
    const list = bank.onAccounts;
    bank.onAccounts = (_request, response) => json(response, 404, {});
    expect((await gateway.get('/api/v1/accounts')).json.code).toBe('access-not-granted');
    bank.onAccounts = list;
    gateway.app.get(AppModule).reload();
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(gateway.events('sharing.recovered')).toEqual([]);
    mkdirSync(directory);
    await gateway.close();
    expect(gateway.events('sharing.recovered')).toMatchObject([{ what: 'file' }]);
  });
});
