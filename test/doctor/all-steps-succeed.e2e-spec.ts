import { beforeAll, describe, expect, it } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import forge from 'node-forge';
import { toKeyPair } from '../../src/sandbox/identity/key-pair.js';
import { MovedClock } from '../support/moved-clock.js';
import { createPfx, openPfx } from '../../src/sandbox/identity/pfx.js';
import { bankForFile } from '../support/bank-for-file.js';
import { examineWith, expectWellFormed, type Examination } from '../support/examination.js';
import { toEnvironment } from '../support/bank-address.js';
import { json, type Handler } from '../support/pretend-bank.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { openSockets, expectSocketsLeft } from '../support/egress.js';
import { hasIpv6, hasRedis } from '../support/tools.js';
import { listSample, PLANTED, sampleAccount } from '../support/sample-accounts.js';
import { startRedis } from '../support/redis.js';
import { start } from '../support/sandbox.js';
import { startRawServer } from '../support/servers.js';

const bank = await bankForFile();

const ALL = ['settings', 'certificate', 'dns', 'route', 'tls', 'token', 'accounts', 'shape'];
const statuses = ({ report }: Examination) => report.steps.map(({ status }) => status);
const well = ALL.map(() => 'ok');

describe('the doctor on a healthy path', () => {
  beforeAll(async () => {
    // with the intermediate, because there is a warning without it
    const [passcode, ca] = [bank.files.passcode, bank.files.ca].map((file) => readFileSync(file, 'utf8')) as [
      string,
      string,
    ];
    const { keyPem, certificatePems } = openPfx(readFileSync(bank.files.pfx), passcode);
    const chain = [...certificatePems, ca].map((pem) => forge.pki.certificateFromPem(pem));
    writeFileSync(bank.files.pfx, createPfx(toKeyPair(keyPem), chain, passcode));
  });

  function expectWell(examination: Examination, expected = well): void {
    expect(statuses(examination)).toEqual(expected);
    expect(examination.exitCode).toBe(0);
    expect(examination.report.ok).toBe(true);
    expectWellFormed(examination.report);
    const { everything } = examination;
    for (const secret of [bank.username, bank.password, 'secret-', ...bank.tokens, ...Object.values(PLANTED)]) {
      expect(everything.includes(secret)).toBe(false);
    }
  }

  it('warns if the clock differs from the bank', async () => {
    const clock = new MovedClock();
    clock.moveWall(-600_000);
    const { step, exitCode } = await examineWith(toEnvironment(bank), { clock });
    expect(step('token')).toMatchObject({ status: 'warning', code: 'clock-skewed', owner: 'operator' });
    expect(step('token').problem).toMatch(/\d s behind/);
    expect(exitCode).toBe(0);
  });

  it('resumes no TLS session, so that the bank checks the certificate in every step', async () => {
    const resumed: boolean[] = [];
    const [onToken, onAccounts] = [bank.onToken, listSample(3)];
    const noting =
      (handler: Handler): Handler =>
      (request, ...rest) => {
        resumed.push((request.socket as TLSSocket).isSessionReused());
        handler(request, ...rest);
      };
    bank.onToken = noting(onToken);
    bank.onAccounts = noting(onAccounts);
    expectWell(await examineWith(toEnvironment(bank)));
    expect(resumed).toEqual([false, false]);
  });

  it('shows the facts of each step, costs one token request and one page, and leaves no connection open', async () => {
    bank.onAccounts = listSample(3);
    const [before, asked] = [openSockets(), bank.requests.length];
    const examination = await examineWith(toEnvironment(bank));
    expectWell(examination);
    const { step, text } = examination;
    expect(bank.requests.slice(asked).map(({ path }) => path)).toEqual([
      '/api/v1/authorizations/authorize',
      '/api/v1/accounts?PageNumber=1&PageSize=1000',
    ]);
    const { thumbprint } = step('certificate').facts;
    expect(thumbprint).toBe(bank.requests.at(-1)?.thumbprint);
    expect(step('certificate').facts).toMatchObject({
      subject: expect.stringContaining('sandbox-m2m'),
      daysLeft: 364,
    });
    expect(step('dns').facts).toEqual({ bank: { host: '127.0.0.1', addresses: ['127.0.0.1'] } });
    expect(step('tls').facts['bank']).toMatchObject({
      tlsVersion: 'TLSv1.3',
      serverChain: [
        { subject: expect.stringContaining('localhost'), validTo: expect.stringMatching(/^20.*Z$/) },
        { subject: expect.stringContaining('Sandbox Bank Root CA') },
      ],
    });
    expect(step('token').facts).toEqual({ lifetimeSeconds: 300, clockSkewSeconds: expect.any(Number) });
    expect(step('accounts').facts).toEqual({
      requestId: bank.requests.at(-1)?.headers['x-request-id'],
      accounts: 3,
      pages: 1,
      complete: true,
    });
    expect(step('shape').facts).toEqual({ drift: [] });
    expect(text).toMatch(/^✓ settings +\d+ ms\n +baseUrl +https:/m);
    expect(text).toMatch(/^ +daysLeft +364$/m);
    expect(text).not.toContain('\u001b');
    await expectSocketsLeft(before);
  });

  it('checks both hosts, also if they differ only in their port', async () => {
    const sandbox = await start({ SANDBOX_AUTH_PORT: 0 });
    const examination = await examineWith(toEnvironment(sandbox));
    expectWell(examination);
    for (const name of ['dns', 'route', 'tls'] as const) {
      expect(Object.keys(examination.step(name).facts)).toEqual(['tokens', 'accounts']);
    }
    const route = examination.step('route').facts as Record<string, { remotePort: number }>;
    expect(`https://127.0.0.1:${route['tokens']?.remotePort}`).toBe(sandbox.authUrl);
    expect(`https://127.0.0.1:${route['accounts']?.remotePort}`).toBe(sandbox.url);
  });

  (hasIpv6() ? it : it.skip)('reaches an IPv6 literal', async () => {
    const sandbox = await start({ SANDBOX_HOST: '::1', SANDBOX_NAMES: ['::1'] });
    expect(sandbox.url).toContain('[::1]');
    const examination = await examineWith(toEnvironment(sandbox));
    expectWell(examination);
    expect(examination.step('dns').facts).toEqual({ bank: { host: '::1', addresses: ['::1'] } });
  });

  it('goes through a proxy', async () => {
    const { url } = await startConnectProxy();
    const examination = await examineWith({ ...toEnvironment(bank), EGRESS_PROXY_URL: url.href });
    expectWell(examination);
    expect(examination.step('dns').facts['bank']).toMatchObject({ proxy: url.hostname });
    expect(examination.step('route').facts['bank']).toMatchObject({ route: `proxy ${url.origin}` });
  });

  (hasRedis() ? it : it.skip)('writes, reads and deletes a key with REDIS_URL', async () => {
    const redis = await startRedis({ tls: true });
    const { report, exitCode } = await examineWith({ ...toEnvironment(bank), ...redis.env });
    expect([exitCode, report.steps.at(-1)]).toMatchObject([0, { name: 'sharing', status: 'ok' }]);
    expect(redis.cli('dbsize').trim()).toBe('0');
  });

  (hasRedis() ? it : it.skip)('asks a Redis that misses a time limit once more', async () => {
    const redis = await startRedis();
    const front = await startRawServer((socket) => {
      if (front.accepted > 1) socket.pipe(connect(redis.port, '127.0.0.1')).pipe(socket);
    });
    const REDIS_URL = `redis://127.0.0.1:${front.port}`;
    const { report, exitCode } = await examineWith({ ...toEnvironment(bank), ...redis.env, REDIS_URL });
    expect([exitCode, report.steps.at(-1)]).toMatchObject([0, { name: 'sharing', status: 'ok' }]);
    expect(front.accepted).toBe(2);
  });

  it('opens no socket and resolves no name when offline', async () => {
    const opened: unknown[] = [];
    const note = (message: unknown) => void opened.push(message);
    subscribe('net.client.socket', note);
    try {
      const examination = await examineWith(
        {
          ...toEnvironment(bank),
          BANK_BASE_URL: 'https://no-such-bank.invalid',
          REDIS_URL: 'redis://no-such-redis.invalid',
        },
        { offline: true },
      );
      const expected = [...ALL, 'sharing'].map((_, index) => (index < 2 ? 'ok' : 'skipped'));
      expect([examination.exitCode, statuses(examination)]).toEqual([0, expected]);
      expect(examination.text).toContain('The local steps succeeded.');
    } finally {
      unsubscribe('net.client.socket', note);
    }
    expect(opened).toEqual([]);
  });

  describe('warns and continues', () => {
    const warnedAt = (name: string) => ALL.map((each) => (each === name ? 'warning' : 'ok'));

    it('with a certificate in its last 30 days', async () => {
      const { pfx, passcode } = await bank.issueClient('soon', {
        notBefore: new Date(Date.now() - 1000),
        notAfter: new Date(Date.now() + 29.5 * 86_400_000),
      });
      const write = (name: string, content: string | Buffer) => {
        writeFileSync(join(bank.directory, name), content, { mode: 0o600 });
        return join(bank.directory, name);
      };
      const examination = await examineWith({
        ...toEnvironment(bank),
        BANK_PFX_FILE: write('soon.pfx', pfx),
        BANK_PFX_PASSCODE_FILE: write('soon-passcode', passcode),
      });
      expectWell(examination, warnedAt('certificate'));
      const { code, problem, owner } = examination.step('certificate');
      expect([code, owner, problem]).toEqual(['certificate-expiring', 'operator', expect.stringContaining('29 days')]);
      expect(examination.text).toContain('! certificate');
      expect(examination.text).toContain('See the warnings');
    });

    it('with misspelled settings', async () => {
      const examination = await examineWith({ ...toEnvironment(bank), BANK_PAGESIZE: '5' });
      expectWell(examination, warnedAt('settings'));
      expect(examination.step('settings').problem).toMatch(/BANK_PAGESIZE.*BANK_PAGE_SIZE/);
    });

    it.each([
      ['that does not agree with its count', [sampleAccount(1)], { accounts: 1, complete: false }],
      ['that is empty', [], { accounts: 0 }],
    ])('with a list %s', async (_name, result, facts) => {
      const pageInfo = { rowCount: 2 * result.length, pageSize: 1000 };
      bank.onAccounts = (_request, response) => json(response, 200, { result, pageInfo });
      const examination = await examineWith(toEnvironment(bank));
      expectWell(examination, warnedAt('accounts'));
      expect(examination.step('accounts')).toMatchObject({ owner: 'bank', facts });
    });

    it('with unknown keys and words, which it shows as paths, never as values', async () => {
      const strange = { newField: PLANTED.text, [PLANTED.iban]: 1, 'with\u001b[31m\nnoise': 2, status: 'Frozen' };
      const account = sampleAccount(1, strange);
      (account['balances'] as Record<string, unknown>[])[0]!['availableAmount'] = 12;
      bank.onAccounts = (_request, response) =>
        json(response, 200, { result: [account], links: [], pageInfo: { rowCount: 1, totalPages: 1 } });
      const examination = await examineWith(toEnvironment(bank));
      expectWell(examination, warnedAt('shape'));
      expect(examination.step('shape').facts['drift']).toEqual([
        { path: 'status', value: 'Frozen' },
        { path: 'balances[].availableAmount' },
        { path: 'newField' },
        { path: '*' },
      ]);
      expect(examination.text).not.toContain('\u001b');
    });
  });
});
