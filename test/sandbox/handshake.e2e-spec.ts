import { beforeAll, describe, expect, it } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { temporaryDirectory } from '../support/closing.js';
import {
  askAccounts,
  askToken,
  call,
  control,
  getToken,
  ownCertificate,
  siblingCertificate,
  start,
} from '../support/sandbox.js';

const none = { pfx: undefined, passphrase: undefined };

describe('the sandbox on one port', () => {
  let bank: Sandbox;
  let other: Sandbox;
  beforeAll(async () => {
    [bank, other] = await Promise.all([start(), start({ directory: temporaryDirectory() })]);
  });

  it('answers a client with its certificate, under each of its names', async () => {
    expect((await askToken(bank)).status).toBe(200);
    const localhost = bank.authUrl.replace('127.0.0.1', 'localhost');
    const options = { ...ownCertificate(bank), family: 4 };
    expect((await call(bank, `${localhost}/nothing`, options)).status).toBe(404);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'ends the handshake of a client without certificate (%s)',
    async (version) => {
      const before = bank.requests.length;
      await expect(askToken(bank, { ...none, maxVersion: version })).rejects.toThrow(/alert|ECONNRESET|socket/);
      await expect(askAccounts(bank, 'x', '', { ...none, maxVersion: version })).rejects.toThrow(
        /alert|ECONNRESET|socket/,
      );
      expect(bank.requests).toHaveLength(before);
      expect((await control(bank, 'GET')).json['handshakesFailed']).toBeGreaterThan(0);
    },
  );

  it('ends the handshake of a client with a certificate of another CA', async () => {
    await expect(askToken(bank, ownCertificate(other))).rejects.toThrow();
  });

  it('speaks TLS 1.2, and nothing older', async () => {
    expect((await askToken(bank, { maxVersion: 'TLSv1.2' })).status).toBe(200);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(askToken(bank, old)).rejects.toThrow();
  });

  it('is trusted by its own CA only', async () => {
    await expect(askToken(bank, { ca: readFileSync(other.files.ca) })).rejects.toThrow(/certificate|signature/);
  });

  it('refuses a token that comes with another good certificate', async () => {
    const token = await getToken(bank);
    expect((await askAccounts(bank, token)).status).toBe(200);
    const sibling = await siblingCertificate(bank);
    expect((await askToken(bank, sibling)).status).toBe(200);
    expect((await askAccounts(bank, token, '', sibling)).status).toBe(401);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('knows the certificate of a resumed session (%s)', async (maxVersion) => {
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10 });
    const token = await getToken(bank);
    for (let i = 0; i < 3; i++) expect((await askAccounts(bank, token, '', { agent, maxVersion })).status).toBe(200);
    const { certificatePems } = openPfx(readFileSync(bank.files.pfx), readFileSync(bank.files.passcode, 'utf8'));
    const leaf = new X509Certificate(certificatePems[0] ?? '').fingerprint.replaceAll(':', '');
    expect(bank.requests.at(-1)).toMatchObject({ thumbprint: leaf, status: 200 });
  });
});

describe('the sandbox with an authorization host of its own', () => {
  let bank: Sandbox;
  let other: Sandbox;
  beforeAll(async () => {
    [bank, other] = await Promise.all([start({ authPort: 0 }), start({ directory: temporaryDirectory() })]);
  });

  it('serves each path on its own host only', async () => {
    expect(bank.authUrl).not.toBe(bank.url);
    const tls = ownCertificate(bank);
    expect((await askToken(bank)).status).toBe(200);
    expect((await askAccounts(bank, await getToken(bank))).status).toBe(200);
    expect((await call(bank, `${bank.url}/api/v1/authorizations/authorize`, tls)).status).toBe(404);
    expect((await call(bank, `${bank.authUrl}/api/v1/accounts`, tls)).status).toBe(404);
  });

  it('insists on the certificate for a token, not for accounts', async () => {
    await expect(askToken(bank, none)).rejects.toThrow();
    const token = await getToken(bank);
    expect((await askAccounts(bank, token, '', none)).status).toBe(200);
    expect(bank.requests.at(-1)).toMatchObject({ thumbprint: null, endpoint: 'accounts' });
    expect((await askAccounts(bank, 'no.such.token', '', none)).status).toBe(401);
  });

  it('refuses a token with a certificate that is not its own, of any CA', async () => {
    const token = await getToken(bank);
    expect((await askAccounts(bank, token, '', ownCertificate(other))).status).toBe(401);
    expect((await askAccounts(bank, token, '', await siblingCertificate(bank))).status).toBe(401);
  });
});
