import { copyFileSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { IdentityHolder } from '../../src/auth/identity-holder.js';
import { readPfx } from '../../src/auth/pfx/read-pfx.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const ALWAYS_READ = { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };
const DAY_MS = 86_400_000;

type Issued = Awaited<ReturnType<PretendBank['issueClient']>>;

/** A validity between two numbers of days from now. */
const days = (from: number, to: number) => ({
  notBefore: new Date(Date.now() + from * DAY_MS),
  notAfter: new Date(Date.now() + to * DAY_MS),
});

/** Overwrites the certificate files that the gateway uses. */
function install({ files }: PretendBank, { passcode, pfx }: Issued): void {
  writeFileSync(files.passcode, passcode);
  writeFileSync(files.pfx, pfx);
}

/** Calls without a pause until stopped. Returns every status but 200. */
function steadyLoad(gateway: Gateway) {
  let on = true;
  const failures: number[] = [];
  const done = (async () => {
    while (on) {
      const { status } = await gateway.get('/api/v1/accounts');
      if (status !== 200) failures.push(status);
    }
  })();
  return async () => {
    on = false;
    await done;
    return failures;
  };
}

const thumbprints = (bank: PretendBank) =>
  bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).map(({ thumbprint }) => thumbprint);
const replaced = (gateway: Gateway) => gateway.events('certificate.replaced').length;
const proxyRoots = (bank: PretendBank) => join(bank.directory, 'proxy-ca.pem');
const refusedCodes = (gateway: Gateway) => gateway.events('certificate.refused').map(({ code }) => code);
const shownOf = async (gateway: Gateway) => (await gateway.get('/health')).json.details.certificate;

describe('a certificate that is replaced at run time', () => {
  it('is used within 5 s without a failed call, and old connections close', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    const stop = steadyLoad(gateway);
    await until(() => bank.requests.length > 5);
    const before = new Set(bank.sockets);
    const next = await bank.issueClient('renewed');
    install(bank, next);
    await until(() => thumbprints(bank).at(-1) === next.thumbprint);
    await until(() => [...bank.sockets].every((socket) => !before.has(socket)));
    expect(await stop()).toEqual([]);
    expect(await shownOf(gateway)).toMatchObject({ status: 'up', thumbprint: next.thumbprint, refused: null });
  });

  it('is noticed when the file is renamed into place, or a symbolic link changes as in Kubernetes', async () => {
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
    await until(() => replaced(gateway) === 1);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(thumbprints(bank).at(-1)).toBe(next.thumbprint);
  });

  it('a new password alone is proved and used, with the same certificate', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    writeFileSync(bank.files.password, 'secret-password-new');
    await until(() => replaced(gateway) === 1);
    const basic = Buffer.from(`${bank.username}:secret-password-new`).toString('base64');
    expect(bank.requests.at(-1)?.headers.authorization).toBe(`Basic ${basic}`);
  });

  it('works with PEM files, which can be replaced too', async () => {
    const bank = await startPretendBank();
    /** Renames complete files into place. The key has a passphrase. */
    const writePem = ({ pfx, passcode }: Issued) => {
      const { keys, certificates } = readPfx(pfx, passcode);
      const key = keys[0]?.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'phrase' }) ?? '';
      const files = { BANK_CERT_FILE: join(bank.directory, 'tls.crt'), BANK_KEY_FILE: join(bank.directory, 'tls.key') };
      writeFileSync(`${files.BANK_KEY_FILE}.new`, key);
      writeFileSync(`${files.BANK_CERT_FILE}.new`, certificates.map(String).join(''));
      for (const file of Object.values(files)) renameSync(`${file}.new`, file);
      return { ...files, BANK_KEY_PASSPHRASE: 'phrase', BANK_PFX_FILE: '', BANK_PFX_PASSCODE_FILE: '' };
    };
    const [first, second] = [await bank.issueClient('first'), await bank.issueClient('second')];
    const pem = writePem(first);
    const gateway = await startGateway(bank, { ...ALWAYS_READ, ...pem });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(bank.requests.map(({ thumbprint }) => thumbprint)).toEqual([first.thumbprint, first.thumbprint]);
    writePem(second);
    await until(() => replaced(gateway) === 1);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(thumbprints(bank).at(-1)).toBe(second.thumbprint);

    const certificate = readFileSync(pem.BANK_CERT_FILE);
    writePem(first);
    writeFileSync(pem.BANK_CERT_FILE, certificate);
    const mismatch = `BANK_CERT_FILE ${pem.BANK_CERT_FILE}, BANK_KEY_FILE ${pem.BANK_KEY_FILE}: The private key belongs to none`;
    await until(() => gateway.events('certificate.refused').some(({ msg }) => String(msg).includes(mismatch)));
  });
});

describe('a bad certificate is not used', () => {
  it.each<[string, string, (bank: PretendBank, next: Issued) => void]>([
    ['half-written', 'certificate-unusable', ({ files }, { pfx }) => writeFileSync(files.pfx, pfx.subarray(0, 900))],
    ['with a wrong passcode', 'certificate-unusable', ({ files }, { pfx }) => writeFileSync(files.pfx, pfx)],
    [
      'with roots of which one is cut off',
      'certificate-unusable',
      ({ files }) => writeFileSync(files.ca, readFileSync(files.ca, 'utf8').repeat(2).slice(0, -300)),
    ],
    [
      'with roots for the proxy that are none',
      'certificate-unusable',
      (bank) => writeFileSync(proxyRoots(bank), 'nothing'),
    ],
    ['removed', 'certificate-unusable', ({ files }) => unlinkSync(files.pfx)],
    [
      'refused by the bank',
      'credentials-rejected',
      (bank, next) => {
        bank.onToken = (_request, response) => json(response, 401, {});
        install(bank, next);
      },
    ],
    [
      'that the bank could not be asked about',
      'bank-error',
      (bank, next) => {
        bank.onToken = (_request, response) => json(response, 503, {});
        install(bank, next);
      },
    ],
  ])('if it is %s; once that is repaired, the new one is used', async (_name, code, change) => {
    const bank = await startPretendBank();
    copyFileSync(bank.files.ca, proxyRoots(bank));
    const roots = readFileSync(bank.files.ca);
    const gateway = await startGateway(bank, { ...ALWAYS_READ, EGRESS_PROXY_CA_FILE: proxyRoots(bank) });
    const stop = steadyLoad(gateway);
    await until(() => bank.requests.length > 3);
    const old = thumbprints(bank).at(-1);
    const next = await bank.issueClient('renewed');
    change(bank, next);
    const holder = gateway.app.get(IdentityHolder);
    await holder.reload();
    expect(refusedCodes(gateway)).toEqual([code]);
    const health = await gateway.get('/health');
    expect([health.status, health.json.status]).toEqual([200, 'degraded']);
    const shown = { status: 'degraded', thumbprint: old, refused: { code } };
    expect(health.json.details.certificate).toMatchObject(shown);
    expect(gateway.events('bank.unavailable')).toEqual([]);
    expect(await stop()).toEqual([]);
    expect(new Set(thumbprints(bank))).toEqual(new Set([old]));

    bank.onToken = issueToken(bank);
    for (const file of [bank.files.ca, proxyRoots(bank)]) writeFileSync(file, roots);
    install(bank, next);
    // at once, as on SIGHUP, whatever the back-off
    await holder.reload();
    expect(await shownOf(gateway)).toMatchObject({ thumbprint: next.thumbprint, refused: null });
  });

  it('until the bank can be reached to prove it; then it is used without help', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, ALWAYS_READ);
    await gateway.get('/api/v1/accounts');
    bank.onToken = (_request, response) => json(response, 503, {});
    install(bank, await bank.issueClient('renewed'));
    await until(() => refusedCodes(gateway).length > 0);
    bank.onToken = issueToken(bank);
    await until(() => replaced(gateway) === 1);
  });
});

describe('validity', () => {
  it.each([
    ['expired', days(-30, -1), /expired on \d{4}-/],
    ['not yet valid', days(1, 30), /not valid before \d{4}-/],
  ])('%s: the gateway starts, is not ready, and reports why', async (_name, clientValidity, reason) => {
    const bank = await startPretendBank({ clientValidity });
    const gateway = await startGateway(bank);
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 503, code: 'certificate-unusable', owner: 'operator' });
    expect(answer.json.detail).toMatch(reason);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await gateway.get('/health/ready')).status).toBe(503);
    expect((await gateway.get('/health/live')).status).toBe(200);
    const health = await gateway.get('/health');
    const certificate = { status: 'down', thumbprint: expect.stringMatching(/^[0-9A-F]{40}$/) };
    expect(health.json).toMatchObject({ status: 'error', error: { certificate }, details: { certificate } });
    expect(health.json.details.certificate.detail).toMatch(reason);
    // no call to the bank
    expect([bank.requests.length, bank.sockets.size]).toEqual([0, 0]);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('an expired certificate is replaced without proof while the bank cannot be reached', async () => {
    const bank = await startPretendBank({ clientValidity: days(-9, -1) });
    bank.onToken = (_request, response) => json(response, 503, {});
    const gateway = await startGateway(bank, ALWAYS_READ);
    expect((await gateway.get('/api/v1/accounts')).json.code).toBe('certificate-unusable');
    const next = await bank.issueClient('renewed');
    install(bank, next);
    await until(() => replaced(gateway) === 1);
    expect(gateway.events('certificate.replaced')[0]).toMatchObject({ proved: false, thumbprint: next.thumbprint });
    bank.onToken = issueToken(bank);
    await until(async () => (await gateway.get('/api/v1/accounts')).status === 200);
  });

  it('with less than 30 days left the gateway serves, and health is degraded', async () => {
    const bank = await startPretendBank({ clientValidity: days(-300, 20.5) });
    const gateway = await startGateway(bank);
    expect((await askInTime(gateway)).status).toBe(200);
    const { status, json: health } = await gateway.get('/health');
    expect([status, health.status]).toEqual([200, 'degraded']);
    expect(health.details.certificate).toMatchObject({ status: 'degraded', daysLeft: 20 });
    expect(gateway.events('certificate.expiring').length).toBeGreaterThanOrEqual(1);
  });

  it('a certificate that expires at run time is no longer sent', async () => {
    const bank = await startPretendBank({ clientValidity: days(-300, 1) });
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_MAX_AGE_MS: '86400000' }, clock);
    expect((await askInTime(gateway)).status).toBe(200);
    const asked = bank.requests.length;
    clock.advance(DAY_MS + 100);
    const answer = await askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect(answer.json).toMatchObject({ status: 503, code: 'certificate-unusable' });
    expect(bank.requests).toHaveLength(asked);
    expect(await shownOf(gateway)).toMatchObject({ status: 'down', daysLeft: -1 });
  });
});

it('an unusable PFX ends the start with exit code 3, one line for people and one log line', async () => {
  const [sandbox, cwd] = [await start(), temporaryDirectory()];
  writeFileSync(join(cwd, 'wrong'), 'planted-passcode');
  const env = programEnvironment(sandbox, { BANK_PFX_PASSCODE_FILE: join(cwd, 'wrong') });
  const program = await startProgram({ env, cwd });
  expect(await program.exit).toBe(3);
  const stderr = program.stderr().trim();
  expect(stderr.split('\n')).toHaveLength(1);
  expect(stderr.length).toBeGreaterThan(30);
  expect(program.events('certificate.refused')).toMatchObject([{ level: 'fatal' }]);
  expect(program.stdout() + stderr).not.toMatch(/\n\s+at |planted-passcode|ERR_/);
  expect(sandbox.requests).toEqual([]);
});
