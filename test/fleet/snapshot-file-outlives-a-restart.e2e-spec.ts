import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { temporaryDirectory } from '../support/closing.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { listSample, PLANTED } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const away = (bank: PretendBank) => {
  bank.onToken = (_request, response) => json(response, 503, {});
  bank.onAccounts = (_request, response) => json(response, 503, {});
};

/** A bank with three accounts, and the file of an earlier run. */
async function afterOneRun(env: Record<string, string> = {}) {
  const bank = await startPretendBank();
  bank.onAccounts = listSample(3);
  const file = join(temporaryDirectory(), 'snapshot');
  const gateway = await startGateway(bank, { SNAPSHOT_FILE: file, ...env });
  const { text } = await gateway.get('/api/v1/accounts');
  await gateway.close();
  return { bank, file, text, asOf: (JSON.parse(text) as { snapshot: { asOf: string } }).snapshot.asOf };
}

describe('the copy in SNAPSHOT_FILE', () => {
  it('is served after a restart while the bank is down, marked stale, and the instance is ready', async () => {
    const { bank, file, asOf } = await afterOneRun();
    away(bank);
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: file });
    const answer = await gateway.get('/api/v1/accounts');
    expect(answer.status).toBe(200);
    expect(answer.json.accounts).toHaveLength(3);
    const expiresAt = new Date(Date.parse(asOf) + 300_000).toISOString();
    expect(answer.json.snapshot).toEqual({ asOf, expiresAt, stale: true, complete: true });
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
    expect((await gateway.get('/api/v1/accounts', { 'cache-control': 'only-if-cached' })).json.snapshot.stale).toBe(
      true,
    );
  });

  it('is readable by its owner only, and shows no content', async () => {
    const { bank, file } = await afterOneRun();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(file);
    for (const value of [
      ...Object.values(PLANTED),
      'Operating',
      bank.username,
      bank.password,
      ...bank.tokens,
      bank.url,
    ])
      expect([value, bytes.includes(value)]).toEqual([value, false]);
    expect(readdirSync(join(file, '..'))).toEqual(['snapshot']);
  });

  it('is written at most every 10 s, and at a stop', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample(3);
    const file = join(temporaryDirectory(), 'snapshot');
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: file, SNAPSHOT_FRESH_MS: '0' });
    await gateway.get('/api/v1/accounts');
    await until(() => statSync(file, { throwIfNoEntry: false }) !== undefined);
    const first = readFileSync(file);
    for (let call = 0; call < 5; call += 1) await gateway.get('/api/v1/accounts');
    expect(readFileSync(file)).toEqual(first);
    await gateway.close();
    expect(readFileSync(file)).not.toEqual(first);
  });

  it('is ignored and logged once when it is damaged or too large', async () => {
    const { bank, file } = await afterOneRun();
    const sealed = readFileSync(file);
    // sealing.spec.ts alters each part of the copy
    const cases: [string, (to: string) => void][] = [
      ['damaged', (to) => writeFileSync(to, sealed.with(sealed.length - 1000, sealed.at(-1000)! ^ 1))],
      ['damaged', (to) => writeFileSync(to, '')],
      // a sparse file, which takes no space
      ['unreadable', (to) => [writeFileSync(to, sealed), truncateSync(to, 512 * 2 ** 20 + 1)]],
    ];
    for (const [reason, write] of cases) {
      const altered = join(temporaryDirectory(), 'snapshot');
      write(altered);
      const gateway = await startGateway(bank, { SNAPSHOT_FILE: altered });
      expect(gateway.events('sharing.refused')).toMatchObject([{ what: 'file', reason, level: 'warn' }]);
      expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(false);
    }
  });

  it('is ignored when it is too old or in the future by the wall clock', async () => {
    const { bank, file } = await afterOneRun();
    for (const [ms, served] of [
      [290_000, 'file'],
      [301_000, undefined],
      [-600_000, undefined],
    ] as const) {
      away(bank);
      const clock = new MovedClock();
      clock.moveWall(ms);
      const gateway = await startGateway(bank, { SNAPSHOT_FILE: file }, clock);
      expect(gateway.events('snapshot.refreshed')[0]?.['source']).toBe(served);
      expect(gateway.events('sharing.refused').map(({ reason }) => reason)).toEqual(served ? [] : ['too-old']);
      if (served) {
        const { headers } = await gateway.get('/api/v1/accounts');
        expect(Number(headers['age'])).toBeGreaterThanOrEqual(290);
      }
      // it keeps the unusable file until it has a new snapshot
      await gateway.close();
    }
  });

  it('cannot be decrypted by another identity, but by a renewed certificate with SNAPSHOT_KEY_FILE', async () => {
    const keyFile = join(temporaryDirectory(), 'key');
    writeFileSync(keyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
    for (const own of [{}, { SNAPSHOT_KEY_FILE: keyFile }]) {
      const { bank, file } = await afterOneRun(own);
      const { pfx, passcode } = await bank.issueClient('renewed');
      writeFileSync(bank.files.pfx, pfx);
      writeFileSync(bank.files.passcode, passcode);
      away(bank);
      const gateway = await startGateway(bank, { SNAPSHOT_FILE: file, ...own });
      const opened = 'SNAPSHOT_KEY_FILE' in own;
      expect(gateway.events('sharing.refused').map(({ reason }) => reason)).toEqual(opened ? [] : ['foreign']);
      expect((await gateway.get('/api/v1/accounts')).status).toBe(opened ? 200 : 503);
      await gateway.close();
    }
  });

  it('is not current for a caller with no-cache, though the clock was set back since it was written', async () => {
    const { bank, file } = await afterOneRun();
    bank.onAccounts = listSample(2);
    const clock = new MovedClock();
    clock.moveWall(-9000);
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: file }, clock);
    expect(gateway.events('snapshot.refreshed')[0]?.['source']).toBe('file');
    const answer = await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect([answer.json.accounts.length, answer.json.snapshot.stale]).toEqual([2, false]);
  });

  it('takes with it the temporary files of killed processes, and leaves all others', async () => {
    const { bank, file } = await afterOneRun();
    const aMinuteAgo = Date.now() / 1000 - 61;
    const all = ['snapshot.1.tmp', 'snapshot.2.tmp', 'snapshot.old.tmp', 'other.3.tmp'];
    for (const name of all) writeFileSync(join(file, '..', name), 'x');
    for (const name of all.filter((each) => each !== 'snapshot.2.tmp'))
      utimesSync(join(file, '..', name), aMinuteAgo, aMinuteAgo);
    await startGateway(bank, { SNAPSHOT_FILE: file });
    expect(readdirSync(join(file, '..')).toSorted()).toEqual([
      'other.3.tmp',
      'snapshot',
      'snapshot.2.tmp',
      'snapshot.old.tmp',
    ]);
  });

  it('is deleted when access is withdrawn', async () => {
    const { bank, file } = await afterOneRun();
    bank.onAccounts = (_request, response) => json(response, 404, {});
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: file });
    expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(true);
    await until(() => statSync(file, { throwIfNoEntry: false }) === undefined);
    expect((await gateway.get('/api/v1/accounts')).json.code).toBe('access-not-granted');
    await gateway.close();
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('is reported once if it cannot be written, and callers notice nothing', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample(3);
    const file = join(temporaryDirectory(), 'snapshot');
    const gateway = await startGateway(bank, { SNAPSHOT_FILE: file, SNAPSHOT_FRESH_MS: '0' });
    // root may write anywhere, but cannot replace a directory by a file
    mkdirSync(file);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await until(() => gateway.events('sharing.unavailable').length > 0);
    await gateway.close();
    expect(gateway.events('sharing.unavailable')).toMatchObject([{ what: 'file' }]);
    expect(readdirSync(join(file, '..'))).toEqual(['snapshot']);
  });

  it('is reported until it has been written, not until it has been deleted', async () => {
    const bank = await startPretendBank();
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
