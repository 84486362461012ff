import { readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { IdentityHolder } from '../../src/auth/identity-holder.js';
import { readPfx } from '../../src/files/read-pfx.js';
import { holdAccounts } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, listAccounts, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const ALWAYS_READ = { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };
const DAY_MS = 86_400_000;

type Issued = Awaited<ReturnType<PretendBank['issueClient']>>;

/** A validity that starts and ends the given numbers of days from now. */
const days = (from: number, to: number) => ({
  notBefore: new Date(Date.now() + from * DAY_MS),
  notAfter: new Date(Date.now() + to * DAY_MS),
});

/** Overwrites the certificate files that the gateway uses. */
function install({ files }: PretendBank, { passcode, pfx }: Issued): void {
  writeFileSync(files.passcode, passcode);
  writeFileSync(files.pfx, pfx);
}

const PATH = '/api/v1/accounts';
const thumbprints = (bank: PretendBank) =>
  bank.requests.filter(({ path }) => path.startsWith(PATH)).map(({ thumbprint }) => thumbprint);
const replaced = (gateway: Gateway) => gateway.events('certificate.replaced').length;
const shownOf = async (gateway: Gateway) => (await gateway.get('/health')).json.details.certificate;

describe('a certificate replaced at run time', () => {
  let bank: PretendBank;
  let gateway: Gateway;
  let linked: string;
  beforeAll(async () => {
    bank = await startPretendBank();
    linked = join(bank.directory, 'linked.pfx');
    symlinkSync(bank.files.pfx, linked);
    const patient = { BANK_REQUEST_TIMEOUT_MS: '60000', REQUEST_DEADLINE_MS: '60000' };
    gateway = await startGateway({ ...bank, files: { ...bank.files, pfx: linked } }, { ...ALWAYS_READ, ...patient });
  });

  it('is used within 5 s without a failed call, and old connections close', async () => {
    expect((await gateway.get(PATH)).status).toBe(200);
    const before = new Set(bank.sockets);
    const letGo = holdAccounts(bank);
    const inFlight = gateway.get(PATH, { 'cache-control': 'no-cache' });
    const asked = bank.requests.length;
    await until(() => bank.requests.length === asked + 1);
    const next = await bank.issueClient('renewed');
    install(bank, next);
    await until(() => replaced(gateway) === 1);
    letGo();
    expect((await inFlight).status).toBe(200);
    expect((await gateway.get(PATH)).status).toBe(200);
    expect(thumbprints(bank).at(-1)).toBe(next.thumbprint);
    await until(() => [...bank.sockets].every((socket) => !before.has(socket)));
    expect(await shownOf(gateway)).toMatchObject({ status: 'up', thumbprint: next.thumbprint, next: null });
  });

  it('is noticed if the file is renamed into place, or if a symbolic link changes as in Kubernetes', async () => {
    const before = replaced(gateway);
    const next = await bank.issueClient('renewed');
    writeFileSync(join(bank.directory, 'next.pfx'), next.pfx);
    writeFileSync(join(bank.directory, 'next-passcode'), next.passcode);
    symlinkSync(join(bank.directory, 'next.pfx'), join(bank.directory, 'next-link'));
    renameSync(join(bank.directory, 'next-passcode'), bank.files.passcode);
    renameSync(join(bank.directory, 'next-link'), linked);
    await until(() => replaced(gateway) === before + 1);
    expect((await gateway.get(PATH)).status).toBe(200);
    expect(thumbprints(bank).at(-1)).toBe(next.thumbprint);
  });

  it('stays the same if only the password changes; the new password is proved and used', async () => {
    const before = replaced(gateway);
    writeFileSync(bank.files.password, 'secret-password-new');
    await until(() => replaced(gateway) === before + 1);
    const basic = Buffer.from(`${bank.username}:secret-password-new`).toString('base64');
    const proof = bank.requests.findLast(({ path }) => !path.startsWith(PATH));
    expect(proof?.headers.authorization).toBe(`Basic ${basic}`);
  });

  it('stays the same if the new password is wrong, which is reported; the old password stays in use until it is corrected', async () => {
    const before = [gateway.events('certificate.refused').length, replaced(gateway)] as const;
    bank.onToken = (_request, response) => json(response, 401, {});
    writeFileSync(bank.files.password, 'secret-password-wrong');
    await until(() => gateway.events('credentials.refused').length === 1);
    expect(gateway.events('credentials.refused')).toMatchObject([{ level: 'error', code: 'credentials-rejected' }]);
    expect(String(gateway.events('credentials.refused')[0]?.['msg'])).toMatch(/^the changed files cannot be used/);
    expect(gateway.events('certificate.refused')).toHaveLength(before[0]);
    bank.onToken = issueToken(bank);
    const { details } = (await gateway.get('/health')).json;
    expect(details.certificate).toMatchObject({ status: 'up', next: null });
    expect(details.token).toMatchObject({ status: 'degraded', code: 'credentials-rejected' });
    writeFileSync(bank.files.password, 'secret-password-newer');
    await until(() => replaced(gateway) === before[1] + 1);
    expect((await gateway.get('/health')).json.details.token.status).toBe('up');
  });

  it('works with PEM files, which can be replaced too', async () => {
    const bank = await startPretendBank();
    /** Renames complete files into place. The key has a passphrase. */
    const writePem = async ({ pfx, passcode }: Issued) => {
      const { keys, certificates } = await readPfx(pfx, passcode);
      const key = keys[0]?.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'phrase' }) ?? '';
      const files = { BANK_CERT_FILE: join(bank.directory, 'tls.crt'), BANK_KEY_FILE: join(bank.directory, 'tls.key') };
      writeFileSync(`${files.BANK_KEY_FILE}.new`, key);
      writeFileSync(`${files.BANK_CERT_FILE}.new`, certificates.map(String).join(''));
      for (const file of Object.values(files)) renameSync(`${file}.new`, file);
      return { ...files, BANK_KEY_PASSPHRASE: 'phrase', BANK_PFX_FILE: '', BANK_PFX_PASSCODE_FILE: '' };
    };
    const [first, second] = [await bank.issueClient('first'), await bank.issueClient('second')];
    const pem = await writePem(first);
    const gateway = await startGateway(bank, { ...ALWAYS_READ, ...pem });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(bank.requests.map(({ thumbprint }) => thumbprint)).toEqual([first.thumbprint, first.thumbprint]);
    await writePem(second);
    await until(() => replaced(gateway) === 1);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(thumbprints(bank).at(-1)).toBe(second.thumbprint);

    const certificate = readFileSync(pem.BANK_CERT_FILE);
    await writePem(first);
    writeFileSync(pem.BANK_CERT_FILE, certificate);
    const mismatch = 'The private key belongs to none';
    await until(() => gateway.events('certificate.refused').some(({ msg }) => String(msg).includes(mismatch)));
  });
});

describe('a bad certificate is not used', () => {
  let bank: PretendBank;
  let gateway: Gateway;
  /** The current certificate, and one to replace it. */
  let old: Issued;
  let next: Issued;
  let roots: Buffer;
  let proxyRoots: string;
  const reload = () => gateway.app.get(IdentityHolder).reload();
  const rejections = () => gateway.events('certificate.refused').map(({ code }) => code);

  beforeAll(async () => {
    bank = await startPretendBank();
    [old, next] = [await bank.issueClient('first'), await bank.issueClient('second')];
    install(bank, old);
    roots = readFileSync(bank.files.ca);
    proxyRoots = join(bank.directory, 'proxy-ca.pem');
    writeFileSync(proxyRoots, roots);
    gateway = await startGateway(bank, { ...ALWAYS_READ, EGRESS_PROXY_CA_FILE: proxyRoots });
  });

  const answerTokens = (status: number) => () => {
    bank.onToken = (_request, response) => json(response, status, {});
    install(bank, next);
  };

  it.each<[string, string, string, () => void]>([
    ['half-written', 'certificate-unusable', 'refused', () => writeFileSync(bank.files.pfx, next.pfx.subarray(0, 900))],
    ['with a wrong passcode', 'certificate-unusable', 'refused', () => writeFileSync(bank.files.pfx, next.pfx)],
    [
      'with roots of which one is cut off',
      'certificate-unusable',
      'refused',
      () => writeFileSync(bank.files.ca, roots.toString().repeat(2).slice(0, -300)),
    ],
    [
      'with roots for the proxy that are none',
      'certificate-unusable',
      'refused',
      () => writeFileSync(proxyRoots, 'nothing'),
    ],
    ['removed', 'certificate-unusable', 'refused', () => unlinkSync(bank.files.pfx)],
    ['not known to the bank', 'credentials-rejected', 'waiting-for-bank', answerTokens(401)],
    ['that the bank could not be asked about', 'bank-error', 'waiting-for-bank', answerTokens(503)],
  ])('if it is %s; once it is repaired, the new one is used', async (_name, code, state, change) => {
    const before = rejections().length;
    change();
    await reload();
    expect(rejections().slice(before)).toEqual([code]);
    expect((await gateway.get(PATH)).status).toBe(200);
    expect(thumbprints(bank).at(-1)).toBe(old.thumbprint);
    const health = await gateway.get('/health');
    // waiting for the bank is not a failure
    const isWaiting = state === 'waiting-for-bank';
    expect(health.status).toBe(200);
    expect(health.json.details.certificate).toMatchObject({
      ...(isWaiting
        ? { status: 'up' }
        : {
            status: 'degraded',
            code,
            detail: expect.stringMatching(/^The changed files cannot be used; the old ones/),
          }),
      thumbprint: old.thumbprint,
      next: {
        thumbprint: isWaiting ? next.thumbprint : null,
        notAfter: isWaiting ? expect.stringMatching(/^\d{4}-/) : null,
        state,
        since: expect.stringMatching(/^\d{4}-/),
        detail: expect.stringMatching(/^.{10}/),
      },
    });
    // reported as certificate.refused: the certificate in use has its token
    expect([...gateway.events('bank.unavailable'), ...gateway.events('token.failed')]).toEqual([]);

    bank.onToken = issueToken(bank);
    for (const file of [bank.files.ca, proxyRoots]) writeFileSync(file, roots);
    install(bank, next);
    // at once, as after SIGHUP, whatever the back-off
    await reload();
    expect(await shownOf(gateway)).toMatchObject({ thumbprint: next.thumbprint, next: null });
    [old, next] = [next, old];
  });

  it('until the bank can be reached to prove it; then it is used without intervention', async () => {
    const before = [rejections().length, replaced(gateway)] as const;
    answerTokens(503)();
    await until(() => rejections().length > before[0]);
    bank.onToken = issueToken(bank);
    await until(() => replaced(gateway) > before[1]);
  });
});

it.each<[string, (bank: PretendBank, next: Issued) => void]>([
  ['waits for the bank', install],
  ['is damaged', ({ files }) => writeFileSync(files.pfx, 'broken')],
])('a new password is used with the old certificate while the new one %s', async (_name, change) => {
  const bank = await startPretendBank();
  let accepted = bank.password;
  const next = await bank.issueClient('renewed');
  bank.onToken = (request, response, url) => {
    const isGood =
      request.headers.authorization === `Basic ${Buffer.from(`${bank.username}:${accepted}`).toString('base64')}`;
    if (isGood && bank.requests.at(-1)?.thumbprint !== next.thumbprint) return issueToken(bank)(request, response, url);
    json(response, 401, {});
  };
  bank.onAccounts = (request, response, url) =>
    bank.tokens.at(-1) === request.headers.authorization?.slice('Bearer '.length)
      ? listAccounts([])(request, response, url)
      : json(response, 401, {});
  const gateway = await startGateway(bank, ALWAYS_READ);
  expect((await gateway.get(PATH)).status).toBe(200);
  const old = thumbprints(bank).at(-1);

  change(bank, next);
  writeFileSync(bank.files.password, 'secret-password-new');
  await until(() => gateway.events('certificate.refused').length === 1);
  // the bank still accepts the old password, which stays in use
  expect((await gateway.get(PATH)).status).toBe(200);
  expect(replaced(gateway)).toBe(0);

  accepted = 'secret-password-new';
  bank.tokens.push('every earlier token is revoked');
  expect((await gateway.get(PATH)).status).toBe(200);
  expect(thumbprints(bank).at(-1)).toBe(old);
  expect(gateway.events('certificate.replaced')).toMatchObject([{ thumbprint: old, replaced: old, proved: true }]);
  expect((await shownOf(gateway)).next).not.toBeNull();

  // the other way round: the bank has rejected the password before the file changes
  accepted = 'secret-password-newest';
  bank.tokens.push('every earlier token is revoked');
  expect((await gateway.get(PATH)).json).toMatchObject({ code: 'credentials-rejected' });
  writeFileSync(bank.files.password, accepted);
  await until(() => replaced(gateway) === 2);
  expect((await gateway.get(PATH)).status).toBe(200);
});

describe('validity', () => {
  it.each([
    ['expired', days(-30, -1), /expired on \d{4}-.* by the clock of this machine/],
    ['not yet valid', days(1, 30), /not valid before \d{4}-/],
  ])('%s: the gateway starts, is not ready, and reports why', async (name, clientValidity, reason) => {
    const bank = await startPretendBank({ clientValidity });
    const gateway = await startGateway(bank, ALWAYS_READ);
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

    if (name === 'expired') await expectReplacedUnproved(bank, gateway);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  /** An unusable certificate is replaced without proof while the bank is unreachable. */
  async function expectReplacedUnproved(bank: PretendBank, gateway: Gateway): Promise<void> {
    bank.onToken = (_request, response) => json(response, 503, {});
    const next = await bank.issueClient('renewed');
    install(bank, next);
    await until(() => replaced(gateway) === 1);
    expect(gateway.events('certificate.replaced')[0]).toMatchObject({ proved: false, thumbprint: next.thumbprint });
    bank.onToken = issueToken(bank);
    await until(async () => (await gateway.get(PATH)).status === 200);
  }

  it('with less than 30 days left, the gateway serves, and health is degraded; once expired, it is no longer sent', async () => {
    const bank = await startPretendBank({ clientValidity: days(-300, 20.5) });
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_MAX_AGE_MS: '86400000' }, clock);
    expect((await askInTime(gateway)).status).toBe(200);
    const { status, json: health } = await gateway.get('/health');
    expect([status, health.status]).toEqual([200, 'degraded']);
    expect(health.details.certificate).toMatchObject({ status: 'degraded', daysLeft: 20 });
    expect(gateway.events('certificate.expiring').length).toBeGreaterThanOrEqual(1);

    const asked = bank.requests.length;
    clock.advance(20.6 * DAY_MS);
    const answer = await askInTime(gateway, PATH, { 'cache-control': 'no-cache' });
    expect(answer.json).toMatchObject({ status: 503, code: 'certificate-unusable' });
    expect(bank.requests).toHaveLength(asked);
    expect(await shownOf(gateway)).toMatchObject({ status: 'down', daysLeft: -1 });
  });
});

it('an unusable PFX ends startup with exit code 3, one line for people and one log line', async () => {
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
