import { copyFileSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { IdentityHolder } from '../../src/auth/identity-holder.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json, issueToken, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

const ALWAYS_READ = { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };

/** Calls without pause until told to stop; gives every status that was not 200. */
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
