import { Activity } from '../telemetry/activity.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from '@jest/globals';
import { createAuthority } from '../../test/support/authority.js';
import { toEnvironment } from '../../test/support/bank-address.js';
import { MovedClock } from '../../test/support/moved-clock.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { keepLines } from '../../test/support/log-lines.js';
import { issueToken, json, startPretendBank, type PretendBank } from '../../test/support/pretend-bank.js';
import { until } from '../../test/support/until.js';
import { readSettings } from '../config/read-settings.js';
import type { SecretSource } from '../config/kinds.js';
import type { Settings } from '../config/settings.js';
import { FileUnusable } from '../files/small-file.js';
import { Clock } from '../time/clock.js';
import { toAccessToken } from './access-token-provider.js';
import { AuthorizedCall } from './authorized-call.js';
import { IdentityHolder } from './identity-holder.js';
import { watchedFiles } from './identity-material.js';

const holders = new Set<IdentityHolder>();
afterAll(async () => {
  for (const holder of holders) holder.onApplicationShutdown();
});

/** A holder whose password file can become unreadable without a change in the file system, as with EMFILE. */
async function startHolder(prepare: (bank: PretendBank) => void = () => undefined) {
  const bank = await startPretendBank();
  prepare(bank);
  const { settings } = readSettings({ ...toEnvironment(bank), PORT: '0' }, { sandbox: false });
  const fault = { code: null as string | null, reads: 0 };
  const password = settings.BANK_PASSWORD;
  const unsteady: SecretSource = {
    ...password,
    read: () => {
      fault.reads += 1;
      if (fault.code === null) return password.read();
      const cause = Object.assign(new Error(fault.code), { code: fault.code, errno: -24 });
      throw new FileUnusable(bank.files.password, `cannot be read (${fault.code})`, { cause });
    },
  };
  const clock = new MovedClock();
  const log = keepLines();
  const holder = await IdentityHolder.start({
    activity: new Activity(),
    settings: { ...settings, BANK_PASSWORD: unsteady },
    clock,
    logger: log.logger,
  });
  holders.add(holder);
  return { bank, clock, holder, log, fault, settings };
}

it('EMFILE while files change is reported once, and the files are read again', async () => {
  const { bank, clock, holder, log, fault } = await startHolder();
  const next = await bank.issueClient('renewed');
  fault.code = 'EMFILE';
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
  await until(() => fault.reads >= 2);
  clock.advance(60_000);
  await until(() => fault.reads >= 3);
  expect(log.lines('certificate.refused')).toMatchObject([{ level: 'error', code: 'certificate-unusable' }]);
  expect(holder.status().next?.detail).toContain('(EMFILE)');
  fault.code = null;
  clock.advance(60_000);
  await until(() => log.lines('certificate.replaced').length === 1);
  expect(holder.status()).toMatchObject({ thumbprint: next.thumbprint, next: null });
});

it('SIGHUP ends the back-off, even if no file has changed', async () => {
  const { bank, holder } = await startHolder();
  bank.onToken = (_request, response) => json(response, 403, {});
  await expect(holder.current.tokens.get()).rejects.toMatchObject({ code: 'address-not-allowed' });
  bank.onToken = issueToken(bank);
  await expect(holder.current.tokens.get()).rejects.toMatchObject({ code: 'address-not-allowed' });
  await holder.reload();
  expect((await holder.current.tokens.get()).value).not.toBe('');
});

it('watches each file of the identity', () => {
  const files = ['BANK_PFX_FILE', 'BANK_CERT_FILE', 'BANK_KEY_FILE', 'BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE'];
  const secrets = ['BANK_PFX_BASE64', 'BANK_PFX_PASSCODE', 'BANK_KEY_PASSPHRASE', 'BANK_USERNAME', 'BANK_PASSWORD'];
  const settings = Object.fromEntries([
    ...files.map((name) => [name, name]),
    ...secrets.map((name) => [name, { file: name }]),
  ]) as unknown as Settings;
  expect(watchedFiles(settings)).toEqual([...files, ...secrets]);
});

it('a new certificate that is not valid yet is used once it is valid', async () => {
  const { bank, clock, holder, log } = await startHolder();
  const day = 86_400_000;
  const validity = { notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + day) };
  const next = await bank.issueClient('renewed', validity);
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
  clock.moveWall(-2 * day);
  await holder.reload();
  expect(holder.status()).toMatchObject({
    next: { state: 'not-yet-valid', thumbprint: next.thumbprint },
    rejected: null,
  });
  // it does not wait for the bank
  const msg = expect.stringMatching(/^the new certificate cannot be used yet; .*not valid before/);
  expect(log.lines('certificate.refused')).toMatchObject([{ level: 'warn', msg }]);
  clock.moveWall(2 * day);
  await until(() => log.lines('certificate.replaced').length === 1);
  expect(holder.status()).toMatchObject({ thumbprint: next.thumbprint, next: null });
});

it('a token request waits for the proof in flight', async () => {
  const { bank, holder } = await startHolder();
  const { promise, resolve } = Promise.withResolvers<void>();
  bank.onToken = (...args) => void promise.then(() => issueToken(bank)(...args));
  writeFileSync(bank.files.password, 'secret-password-new');
  const proof = holder.reload();
  await until(() => bank.requests.length === 1);
  const token = rejectionOf(() => holder.current.tokens.get());
  // long enough for a second request to arrive, if one is sent
  setTimeout(resolve, 500);
  await Promise.all([proof, token]);
  expect(bank.most.token).toBe(1);
});

it('a token request of the replaced identity is dropped if it waited for the proof', async () => {
  const { bank, holder, log } = await startHolder();
  const { promise, resolve } = Promise.withResolvers<void>();
  bank.onToken = (...proof) => {
    // the bank no longer accepts the old password
    bank.onToken = (_request, response) => json(response, 401, {});
    void promise.then(() => issueToken(bank)(...proof));
  };
  writeFileSync(bank.files.password, 'secret-password-new');
  const proof = holder.reload();
  await until(() => bank.requests.length === 1);
  const token = rejectionOf(() => holder.current.tokens.get());
  resolve();
  await proof;
  expect(await token).toMatchObject({ code: 'stopping' });
  expect(bank.requests).toHaveLength(1);
  expect([...log.lines('bank.unavailable'), ...log.lines('token.failed')]).toEqual([]);
});

it.each<[string, (holder: IdentityHolder) => unknown]>([
  ['found by a look', () => undefined],
  ['read at once on SIGHUP', (holder) => holder.reload()],
])('changed files do not wait for a proof that hangs: %s', async (_how, notice) => {
  const { bank, holder, log } = await startHolder();
  bank.onToken = () => undefined;
  writeFileSync(bank.files.password, 'secret-password-wrong');
  await until(() => bank.requests.length === 1);
  bank.onToken = issueToken(bank);
  writeFileSync(bank.files.password, 'secret-password-new');
  notice(holder);
  // the bank never responds to the first proof
  await until(() => log.lines('certificate.replaced').length === 1);
  const basic = Buffer.from(`${bank.username}:secret-password-new`).toString('base64');
  expect(bank.requests.map(({ headers }) => headers.authorization).at(-1)).toBe(`Basic ${basic}`);
  expect(log.lines('certificate.refused')).toEqual([]);
});

/** Installs another certificate, which the bank rejects with a Retry-After until the scene changes. */
async function install(bank: PretendBank) {
  const next = await bank.issueClient('renewed');
  const scene = {
    next,
    accepts: (thumbprint: unknown) => thumbprint !== next.thumbprint,
    headers: { 'retry-after': '300' } as Record<string, string>,
  };
  bank.onToken = (...args) => {
    const isAccepted = scene.accepts(bank.requests.at(-1)?.thumbprint);
    if (isAccepted) issueToken(bank)(...args);
    else json(args[1], 401, {}, scene.headers);
  };
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
  return scene;
}

it('a certificate that waits is tried as soon as the bank rejects the old one, not minutes later', async () => {
  const { bank, holder, log } = await startHolder();
  const scene = await install(bank);
  await until(() => log.lines('certificate.refused').length === 1);
  scene.accepts = (thumbprint) => thumbprint === scene.next.thumbprint;
  scene.headers = {};
  await expect(holder.current.tokens.get()).rejects.toMatchObject({ code: 'credentials-rejected' });
  // far less than the Retry-After of the first proof
  await until(() => log.lines('certificate.replaced').length === 1, 100_000);
  expect(holder.status()).toMatchObject({ thumbprint: scene.next.thumbprint, next: null });
  expect(holder.current.tokens.usable).not.toBeNull();
});

it('a certificate that waits is not tried before the Retry-After of that rejection', async () => {
  const { bank, holder, log } = await startHolder();
  const scene = await install(bank);
  await until(() => log.lines('certificate.refused').length === 1);
  scene.accepts = () => false;
  await expect(holder.current.tokens.get()).rejects.toMatchObject({ code: 'credentials-rejected' });
  await holder.reload();
  expect(bank.requests.map(({ thumbprint }) => thumbprint === scene.next.thumbprint)).toEqual([true, false, true]);
});

it.each<[string, (holder: IdentityHolder, settings: Settings) => Promise<void>]>([
  [
    'the token request',
    (holder) => expect(holder.current.tokens.get()).rejects.toMatchObject({ code: 'bank-untrusted' }),
  ],
  [
    'the list, within the same call,',
    (holder, settings) => {
      const clock = new Clock();
      holder.current.tokens.take(toAccessToken('issued before', 300_000, clock.now()));
      const call = new AuthorizedCall(holder, settings, clock);
      const { signal } = new AbortController();
      const answer = call.get({ path: '/api/v1/accounts', query: {}, refreshId: 'r-1', signal });
      return expect(answer).resolves.toMatchObject({ status: 200 });
    },
  ],
])('a changed CA file is used before the new certificate if %s fails with the old CA', async (_name, call) => {
  let roots = Buffer.of();
  const { bank, holder, log, settings } = await startHolder(({ files }) => {
    roots = readFileSync(files.ca);
    writeFileSync(files.ca, createAuthority('Earlier CA').pem);
  });
  const { next } = await install(bank);
  writeFileSync(bank.files.ca, roots);
  await until(() => log.lines('certificate.refused').some(({ code }) => code === 'credentials-rejected'));
  expect(log.lines('certificate.replaced')).toEqual([]);
  await call(holder, settings);
  expect(log.lines('certificate.replaced')).toMatchObject([{ proved: true }]);
  await holder.current.tokens.get();
  expect(holder.status()).toMatchObject({ next: { thumbprint: next.thumbprint, state: 'waiting-for-bank' } });
});
