import { copyFileSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { IdentityHolder } from '../../src/auth/identity-holder.js';
import { readPfx } from '../../src/pfx/read-pfx.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { type Gateway, get, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const ALWAYS_READ = { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };

/** Calls without pause until stopped; returns every status that was not 200. */
function steadyLoad(gateway: Gateway) {
  let on = true;
  const failures: number[] = [];
  let calls = 0;
  const done = (async () => {
    while (on) {
      const { status } = await gateway.get('/api/v1/accounts');
      calls += 1;
      if (status !== 200) failures.push(status);
    }
  })();
  return {
    stop: async () => {
      on = false;
      await done;
      return { failures, calls };
    },
  };
}

const thumbprints = (bank: PretendBank, path: string) =>
  bank.requests.filter((request) => request.path.startsWith(path)).map(({ thumbprint }) => thumbprint);
const lastThumbprint = (bank: PretendBank) => thumbprints(bank, '/api/v1/accounts').at(-1);
const replaced = (gateway: Gateway) => gateway.events('certificate.replaced').length;
const proxyRoots = (bank: PretendBank) => join(bank.directory, 'proxy-ca.pem');
const refusedCodes = (gateway: Gateway) => gateway.events('certificate.refused').map(({ code }) => code);

describe('a certificate is swapped while running', () => {
  it('a good one takes over within 5 s without a failed call, and old connections are gone', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    const load = steadyLoad(gateway);
    await until(() => bank.requests.length > 5);
    const before = new Set(bank.sockets);
    const next = await bank.issueClient('renewed');
    writeFileSync(bank.files.passcode, next.passcode);
    writeFileSync(bank.files.pfx, next.pfx);
    const started = performance.now();
    await until(() => lastThumbprint(bank) === next.thumbprint, 5000);
    expect(performance.now() - started).toBeLessThan(5000);
    await until(() => [...bank.sockets].every((socket) => !before.has(socket)), 2000);
    const { failures, calls } = await load.stop();
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(10);
    const health = await gateway.get('/health');
    expect(health.json.details.certificate).toMatchObject({ status: 'up', thumbprint: next.thumbprint, refused: null });
  });

  it('a file replaced by rename, and a link led elsewhere as Kubernetes does, are seen', async () => {
    const bank = await startPretendBank();
    const linked = join(bank.directory, 'linked.pfx');
    symlinkSync(bank.files.pfx, linked);
    const gateway = await startGateway({ ...bank, files: { ...bank.files, pfx: linked } }, ALWAYS_READ);
    const next = await bank.issueClient('renewed');
    writeFileSync(join(bank.directory, 'next.pfx'), next.pfx);
    writeFileSync(join(bank.directory, 'next-passcode'), next.passcode);
    symlinkSync(join(bank.directory, 'next.pfx'), join(bank.directory, 'next-link'));
    renameSync(join(bank.directory, 'next-passcode'), bank.files.passcode);
    renameSync(join(bank.directory, 'next-link'), linked);
    await until(() => replaced(gateway) === 1, 5000);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(lastThumbprint(bank)).toBe(next.thumbprint);
  });

  it('a password changed alone is proved and taken, with the same certificate', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    await gateway.get('/api/v1/accounts');
    writeFileSync(bank.files.password, 'secret-password-new');
    await until(() => replaced(gateway) === 1, 5000);
    const last = bank.requests.findLast(({ path }) => path.includes('authorize'));
    expect(last?.headers.authorization).toBe(
      `Basic ${Buffer.from(`${bank.username}:secret-password-new`).toString('base64')}`,
    );
  });
});

describe('a bad certificate changes nothing', () => {
  const cases: [string, string, (bank: PretendBank) => Promise<void>][] = [
    [
      'half-written',
      'certificate-unusable',
      async (bank) => {
        const next = await bank.issueClient('renewed');
        writeFileSync(bank.files.pfx, next.pfx.subarray(0, 900));
      },
    ],
    [
      'with a wrong passcode',
      'certificate-unusable',
      async (bank) => writeFileSync(bank.files.pfx, (await bank.issueClient('renewed')).pfx),
    ],
    [
      'with roots of which one is cut off',
      'certificate-unusable',
      async (bank) => {
        const root = readFileSync(bank.files.ca, 'utf8');
        writeFileSync(bank.files.ca, root + root.slice(0, 300));
      },
    ],
    [
      'with roots for the proxy that are none',
      'certificate-unusable',
      async (bank) => writeFileSync(proxyRoots(bank), 'nothing'),
    ],
    ['removed', 'certificate-unusable', async (bank) => unlinkSync(bank.files.pfx)],
    [
      'expired',
      'certificate-unusable',
      async (bank) => {
        const day = 86_400_000;
        const next = await bank.issueClient('old', {
          notBefore: new Date(Date.now() - 9 * day),
          notAfter: new Date(Date.now() - day),
        });
        writeFileSync(bank.files.passcode, next.passcode);
        writeFileSync(bank.files.pfx, next.pfx);
      },
    ],
    [
      'refused by the bank',
      'credentials-rejected',
      async (bank) => {
        const next = await bank.issueClient('unknown');
        bank.onToken = (_request, response) => json(response, 401, {});
        writeFileSync(bank.files.passcode, next.passcode);
        writeFileSync(bank.files.pfx, next.pfx);
      },
    ],
    [
      'that the bank could not be asked about',
      'bank-error',
      async (bank) => {
        const next = await bank.issueClient('renewed');
        bank.onToken = (_request, response) => json(response, 503, {});
        writeFileSync(bank.files.passcode, next.passcode);
        writeFileSync(bank.files.pfx, next.pfx);
      },
    ],
  ];
  it.each(cases)('one %s', async (_name, code, change) => {
    const bank = await startPretendBank();
    copyFileSync(bank.files.ca, proxyRoots(bank));
    const gateway = await startGateway(bank, { ...ALWAYS_READ, EGRESS_PROXY_CA_FILE: proxyRoots(bank) });
    const load = steadyLoad(gateway);
    await until(() => bank.requests.length > 3);
    const old = lastThumbprint(bank);
    await change(bank);
    await gateway.app.get(IdentityHolder).reload();
    expect(refusedCodes(gateway)).toEqual([code]);
    const health = await gateway.get('/health');
    expect(health.status).toBe(200);
    expect(health.json.status).toBe('degraded');
    expect(health.json.details.certificate).toMatchObject({ status: 'degraded', thumbprint: old, refused: { code } });
    expect(gateway.events('bank.unavailable')).toEqual([]);
    const { failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(new Set(thumbprints(bank, '/api/v1/accounts'))).toEqual(new Set([old]));
  });

  it('and is taken after all once the bank accepts it', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    await gateway.get('/api/v1/accounts');
    const next = await bank.issueClient('renewed');
    bank.onToken = (_request, response) => json(response, 503, {});
    writeFileSync(bank.files.passcode, next.passcode);
    writeFileSync(bank.files.pfx, next.pfx);
    await until(() => refusedCodes(gateway).length > 0, 5000);
    bank.onToken = issueToken(bank);
    await until(() => replaced(gateway) === 1, 5000);
    expect((await gateway.get('/health')).json.details.certificate).toMatchObject({
      thumbprint: next.thumbprint,
      refused: null,
    });
  });

  it('a refusal is tried again at once on SIGHUP', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    await gateway.get('/api/v1/accounts');
    const next = await bank.issueClient('renewed');
    bank.onToken = (_request, response) => json(response, 401, {});
    writeFileSync(bank.files.passcode, next.passcode);
    writeFileSync(bank.files.pfx, next.pfx);
    await until(() => refusedCodes(gateway).length > 0, 5000);
    bank.onToken = issueToken(bank);
    await gateway.app.get(IdentityHolder).reload();
    expect(replaced(gateway)).toBe(1);
  });
});

describe('when the old certificate has expired', () => {
  const day = 86_400_000;
  const expired = { notBefore: new Date(Date.now() - 9 * day), notAfter: new Date(Date.now() - day) };

  it('a new one is taken unproved while the bank is out of reach', async () => {
    const bank = await startPretendBank({ clientValidity: expired });
    bank.onToken = (_request, response) => json(response, 503, {});
    const gateway = await startGateway(bank, ALWAYS_READ);
    expect((await gateway.get('/api/v1/accounts')).json).toMatchObject({
      code: 'certificate-unusable',
      status: 503,
      owner: 'operator',
    });
    expect((await gateway.get('/health')).json.details.certificate).toMatchObject({ status: 'down' });
    const next = await bank.issueClient('renewed');
    writeFileSync(bank.files.passcode, next.passcode);
    writeFileSync(bank.files.pfx, next.pfx);
    await until(() => replaced(gateway) === 1, 5000);
    expect(gateway.events('certificate.replaced')[0]).toMatchObject({ proved: false, thumbprint: next.thumbprint });
    bank.onToken = issueToken(bank);
    await until(async () => (await gateway.get('/api/v1/accounts')).status === 200, 5000);
  });
});

describe('PEM files', () => {
  type Issued = Awaited<ReturnType<PretendBank['issueClient']>>;

  /** Writes certificate and key of a client as PEM files, each complete from its first moment; the key with a passphrase. */
  function writePem({ directory }: PretendBank, { pfx, passcode }: Issued): Record<string, string> {
    const { keys, certificates } = readPfx(pfx, passcode);
    const key = keys[0]?.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'phrase' }) ?? '';
    const files = { BANK_CERT_FILE: join(directory, 'tls.crt'), BANK_KEY_FILE: join(directory, 'tls.key') };
    writeFileSync(`${files.BANK_KEY_FILE}.new`, key);
    writeFileSync(`${files.BANK_CERT_FILE}.new`, certificates.map(String).join(''));
    for (const file of Object.values(files)) renameSync(`${file}.new`, file);
    return { ...files, BANK_KEY_PASSPHRASE: 'phrase', BANK_PFX_FILE: '', BANK_PFX_PASSCODE_FILE: '' };
  }

  it('PEM files identify the gateway at the bank, and new ones take over while running', async () => {
    const bank = await startPretendBank();
    const first = await bank.issueClient('first');
    const gateway = await startGateway(bank, { ...writePem(bank, first), SNAPSHOT_FRESH_MS: '0' });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(bank.requests.map(({ thumbprint }) => thumbprint)).toEqual([first.thumbprint, first.thumbprint]);

    const second = await bank.issueClient('second');
    writePem(bank, second);
    await until(() => gateway.events('certificate.replaced').length === 1, 10_000);
    expect((await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' })).status).toBe(200);
    expect(bank.requests.at(-1)).toMatchObject({ thumbprint: second.thumbprint });
  });

  it('a key of another certificate is refused, and the old pair stays', async () => {
    const bank = await startPretendBank();
    const first = await bank.issueClient('first');
    const files = writePem(bank, first);
    const gateway = await startGateway(bank, { ...files, SNAPSHOT_FRESH_MS: '0' });
    const { keys } = await bank.issueClient('other').then(({ pfx, passcode }) => readPfx(pfx, passcode));
    writeFileSync(files['BANK_KEY_FILE'] ?? '', keys[0]?.export({ type: 'pkcs8', format: 'pem' }) ?? '');
    await until(() => gateway.events('certificate.refused').length === 1, 10_000);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(bank.requests.at(-1)).toMatchObject({ thumbprint: first.thumbprint });
  });
});

describe('validity', () => {
  const DAY_MS = 86_400_000;
  const days = (from: number, to: number) => ({
    notBefore: new Date(Date.now() + from * DAY_MS),
    notAfter: new Date(Date.now() + to * DAY_MS),
  });

  describe('a certificate out of date is said, not sent', () => {
    it.each([
      ['expired', days(-30, -1), /expired on \d{4}-/],
      ['not yet valid', days(1, 30), /not valid before \d{4}-/],
    ])('%s: it starts, is not ready, and says why', async (_name, clientValidity, reason) => {
      const bank = await startPretendBank({ clientValidity });
      const gateway = await startGateway(bank);
      const answer = await askInTime(gateway);
      expect(answer.json).toMatchObject({ status: 503, code: 'certificate-unusable', owner: 'operator' });
      expect(answer.json.detail).toMatch(reason);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect((await gateway.get('/health/ready')).status).toBe(503);
      expect((await gateway.get('/health/live')).status).toBe(200);
      const health = await gateway.get('/health');
      expect(health.status).toBe(503);
      expect(health.json).toMatchObject({
        status: 'error',
        error: { certificate: { status: 'down' } },
        details: { certificate: { status: 'down', thumbprint: expect.stringMatching(/^[0-9A-F]{40}$/) } },
      });
      expect(health.json.details.certificate.detail).toMatch(reason);
      // the bank is not bothered with it
      expect(bank.requests).toEqual([]);
      expect(bank.sockets.size).toBe(0);
      await expectCommonConditions(bank, gateway, [answer]);
    });

    it('under 30 days left: it works, and health is degraded', async () => {
      const bank = await startPretendBank({ clientValidity: days(-300, 20.5) });
      const gateway = await startGateway(bank);
      expect((await askInTime(gateway)).status).toBe(200);
      const { status, json } = await gateway.get('/health');
      expect(status).toBe(200);
      expect(json).toMatchObject({
        status: 'degraded',
        details: { certificate: { status: 'degraded', daysLeft: 20 } },
      });
      expect(gateway.events('certificate.expiring').length).toBeGreaterThanOrEqual(1);
    });

    it('the counterpart: more than 60 days left is ok, and nothing is said yet', async () => {
      const bank = await startPretendBank({ clientValidity: days(-300, 61.5) });
      const gateway = await startGateway(bank);
      expect((await askInTime(gateway)).status).toBe(200);
      expect((await gateway.get('/health')).json).toMatchObject({
        status: 'ok',
        details: { certificate: { daysLeft: 61 } },
      });
      expect(gateway.events('certificate.expiring')).toEqual([]);
    });

    it('expiring while it runs: the cached copy is served, the certificate is no longer sent', async () => {
      const bank = await startPretendBank({ clientValidity: days(-300, 1) });
      const clock = new MovedClock();
      const gateway = await startGateway(bank, { SNAPSHOT_MAX_AGE_MS: '86400000' }, clock);
      expect((await askInTime(gateway)).status).toBe(200);
      const asked = bank.requests.length;
      clock.advance(DAY_MS - 100);
      clock.advance(200);
      const held = await askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
      expect(held.json).toMatchObject({ status: 503, code: 'certificate-unusable' });
      expect(bank.requests).toHaveLength(asked);
      expect((await gateway.get('/health')).json.details.certificate).toMatchObject({ status: 'down', daysLeft: -1 });
    });
  });
});

describe('at start', () => {
  let sandbox: Sandbox;
  let directory: string;
  beforeAll(async () => {
    sandbox = await start();
    directory = temporaryDirectory();
  });

  const file = (name: string, content: string | Buffer) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  async function run(change: Record<string, string>) {
    const program = await startProgram({ env: programEnvironment(sandbox, change), cwd: directory });
    const code = await program.exit;
    return { code, stdout: program.stdout(), stderr: program.stderr(), refused: program.events('certificate.refused') };
  }

  describe('an unusable PFX ends the start', () => {
    const pfx = () => readFileSync(sandbox.files.pfx);
    it.each<[string, () => Record<string, string>]>([
      ['a wrong passcode', () => ({ BANK_PFX_PASSCODE_FILE: file('wrong', 'planted-passcode') })],
      ['a damaged file', () => ({ BANK_PFX_FILE: file('damaged.pfx', pfx().fill(0xa5, 400, 420)) })],
      ['half of a file', () => ({ BANK_PFX_FILE: file('half.pfx', pfx().subarray(0, pfx().length / 2)) })],
      ['a PEM', () => ({ BANK_PFX_FILE: sandbox.files.ca })],
      ['no such file', () => ({ BANK_PFX_FILE: '/nowhere/client.pfx' })],
    ])('%s: exit code 3, one line for people, one for machines', async (_name, change) => {
      const { code, stdout, stderr, refused } = await run(change());
      expect(code).toBe(3);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stderr.trim().length).toBeGreaterThan(30);
      expect(refused).toMatchObject([{ level: 'fatal' }]);
      expect(stdout + stderr).not.toMatch(/\n\s+at |planted-passcode|ERR_/);
      expect(sandbox.requests).toEqual([]);
    });

    it('the counterpart: one that has expired does not end it', async () => {
      const hour = 3_600_000;
      const bank = await startPretendBank({
        clientValidity: { notBefore: new Date(Date.now() - 48 * hour), notAfter: new Date(Date.now() - hour) },
      });
      const program = await startProgram({ env: programEnvironment(bank), cwd: directory });
      const url = await program.started();
      expect((await get(`${url}/health/ready`)).status).toBe(503);
      expect((await get(`${url}/api/v1/accounts`)).json.code).toBe('certificate-unusable');
    });
  });
});
