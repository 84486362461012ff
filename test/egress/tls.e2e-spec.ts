import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from '@jest/globals';
import forge from 'node-forge';
import type { TLSSocket } from 'node:tls';
import { createCertificate, type Validity } from '../../src/sandbox/identity/certificate.js';
import { createAuthority, expired } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { startRoute } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { ASKS_LATE, askingLate } from '../support/late-certificate.js';
import { insistingOn, startOpensslServer } from '../support/openssl-server.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { startRawServer, startTlsServer } from '../support/servers.js';
import { takeKeyPair } from '../support/stock.js';
import { hasOpenssl } from '../support/tools.js';

const bankCa = createAuthority('Bank CA');
const otherCa = createAuthority('Other CA');
const good = { ...bankCa.client('good client'), ca: bankCa.pem };

it('the bank is accepted if one of several CA certificates fits', async () => {
  const bank = await startPretendBank();
  const { ca, ...identity } = identityFor(bank);
  const egress = createEgress({ ...identity, ca: otherCa.pem + ca });
  expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
});

it.each(['direct', 'https proxy'] as const)(
  '%s: a CA certificate listed by the operator is a trust anchor, root or not, and no other is',
  async (route) => {
    const keys = [takeKeyPair(), takeKeyPair(), takeKeyPair()] as const;
    const root = createCertificate('root', keys[0], { use: 'root' });
    const issuing = createCertificate('issuing', keys[1], {
      use: 'intermediate',
      issuer: { certificate: root, key: keys[0] },
    });
    const issuer = { certificate: issuing, key: keys[1] };
    const leaf = createCertificate('bank', keys[2], { use: 'server', issuer, names: ['localhost'] });
    const server = { key: keys[2].pem, cert: forge.pki.certificateToPem(leaf) };
    const { port } = await startTlsServer(server, (socket) =>
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')),
    );
    // the proxy presents the same certificate
    const { settings } = await startRoute(route, route === 'direct' ? {} : { tls: server });
    const ca = forge.pki.certificateToPem(issuing);
    const file = join(temporaryDirectory(), 'issuing.pem');
    writeFileSync(file, ca);
    const proxyCa = route === 'direct' ? {} : { EGRESS_PROXY_CA_FILE: file };
    const ask = (trusted: string) =>
      createEgress({ ...good, ca: trusted }, { ...settings, ...proxyCa }).get(accountsAt(`https://localhost:${port}`));
    expect((await ask(ca)).status).toBe(200);
    expect(await failureOf(ask(otherCa.pem))).toMatchObject({ code: 'bank-untrusted' });
  },
);

/** A validity that begins in an hour. */
function later(): Validity {
  const [notBefore, notAfter] = [1, 48].map((hours) => new Date(Date.now() + hours * 3_600_000)) as [Date, Date];
  return { notBefore, notAfter };
}

describe('an untrusted server', () => {
  test.each([
    ['expired', 'direct', 'TLSv1.3'],
    ['not yet valid', 'http proxy', 'TLSv1.2'],
    ['for another name', 'direct', 'TLSv1.3'],
    ['for another name', 'http proxy', 'TLSv1.2'],
    ['self-signed', 'direct', 'TLSv1.2'],
    ['of another authority', 'http proxy', 'TLSv1.3'],
    ['of a CA that is only in the PFX', 'direct', 'TLSv1.3'],
  ] as const)('with a certificate that is %s (%s, %s) is not trusted', async (fault, route, version) => {
    const authority = fault === 'of another authority' ? otherCa : bankCa;
    const names = fault === 'for another name' ? ['bank.example'] : ['localhost'];
    const validity = fault === 'expired' ? [expired()] : fault === 'not yet valid' ? [later()] : [];
    const server = fault === 'self-signed' ? otherCa.self : authority.server(names, ...validity);
    const reported: string[] = [];
    const { port } = await startTlsServer(
      { ...server, minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: false },
      (socket) => socket.on('data', (data: Buffer) => reported.push(data.toString())),
    );
    const { key, cert } = bankCa.client('a client');
    // CA certificates in the PFX belong to the chain, and are not trusted for the server
    const ca = fault === 'of a CA that is only in the PFX' ? null : bankCa.pem;
    const egress = createEgress({ key, cert: cert + bankCa.pem, ca }, (await startRoute(route)).settings);
    expect(await failureOf(egress.get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
      code: 'bank-untrusted',
      status: 502,
      owner: 'operator',
      detail: expect.stringMatching(/not trusted: .* \([A-Z_]+\)/),
    });
    expect(reported).toEqual([]);
  });
});

it.each([
  ['has expired', 'CERT_HAS_EXPIRED', expired, /its issuer \(.*CN=issuing\) expired on 20/],
  ['is not valid yet', 'CERT_NOT_YET_VALID', later, /its issuer \(.*CN=issuing\) is not valid before 20/],
])('the detail names the certificate of the chain that %s', async (_how, code, validity, words) => {
  const keys = [takeKeyPair(), takeKeyPair(), takeKeyPair()] as const;
  const root = createCertificate('root', keys[0], { use: 'root' });
  const toIssuing = { use: 'intermediate', issuer: { certificate: root, key: keys[0] } } as const;
  const issuing = createCertificate('issuing', keys[1], toIssuing, validity());
  const issuer = { certificate: issuing, key: keys[1] };
  const leaf = createCertificate('bank', keys[2], { use: 'server', issuer, names: ['localhost'] });
  const [cert, ca] = [[leaf, issuing].map((each) => forge.pki.certificateToPem(each)).join(''), root];
  const { port } = await startTlsServer({ key: keys[2].pem, cert }, () => undefined);
  const egress = createEgress({ ...good, ca: forge.pki.certificateToPem(ca) });
  const { detail } = await failureOf(egress.get(accountsAt(`https://localhost:${port}`)));
  expect(detail).toMatch(words);
  expect(detail).toContain(`(${code})`);
});

describe('a TLS alert', () => {
  /** The real openssl as a bank that requires a client certificate from its CA. */
  const startInsisting = async (...options: string[]) =>
    (await startOpensslServer(bankCa.server(['localhost']), ['-www', ...insistingOn(bankCa.file), ...options])).port;

  (hasOpenssl() ? describe : describe.skip)('of the real openssl', () => {
    test.each([
      ['-tls1_3', 'of another authority', 'http proxy', () => otherCa.client('stranger'), 48],
      ['-tls1_2', 'that has expired', 'http proxy', () => bankCa.client('late', expired()), 45],
      ['-tls1_3', 'for servers', 'direct', () => bankCa.server(['x']), 43],
    ] as const)(
      '%s that rejects a certificate %s is certificate-rejected (%s)',
      async (version, _what, route, identity, alert) => {
        const port = await startInsisting(version);
        const { settings } = await startRoute(route);
        const egress = createEgress({ ...identity(), ca: bankCa.pem }, settings);
        const failure = await failureOf(egress.get(accountsAt(`https://localhost:${port}`)));
        expect(failure).toMatchObject({ code: 'certificate-rejected', owner: 'operator', status: 502 });
        // in TLS 1.3, the following reset may overtake the alert
        const late = version === '-tls1_3' ? '|closed two connections in a row' : '';
        expect(failure.detail).toMatch(new RegExp(`TLS alert ${alert}${late}`));
      },
    );

    test('for a missing certificate is certificate-rejected', async () => {
      const port = await startInsisting('-tls1_2');
      const nothing = { key: '', cert: '', ca: bankCa.pem };
      expect(await failureOf(createEgress(nothing).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
        code: 'certificate-rejected',
        detail: expect.stringContaining('(TLS alert 40)'),
      });
    });

    test.each([
      ['version', ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'], /TLS alert 70/],
      ['cipher', ['-tls1_2', '-cipher', 'CAMELLIA256-SHA'], /TLS alert 40/],
    ])('for want of a common %s is bank-untrusted', async (_what, options, trace) => {
      const port = await startInsisting(...options);
      expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
        code: 'bank-untrusted',
        owner: 'operator',
        detail: expect.stringMatching(trace),
      });
    });
  });

  /** A server that responds to the ClientHello with this fatal alert. */
  const alerting = (alert: number) =>
    startRawServer((socket) => socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert]))));

  test.each([
    [42, 'certificate-rejected'],
    [80, 'bank-error'],
    [112, 'bank-untrusted'],
  ])('%i in the handshake is %s', async (alert, code) => {
    const { port } = await alerting(alert);
    expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
      code,
      detail: expect.stringContaining(`TLS alert ${alert}`),
    });
  });
});

describe('a bank that requests the certificate after the request', () => {
  async function ask(route: 'direct' | 'http proxy', version: '1.2' | '1.3') {
    const bank = await startPretendBank({ server: ASKS_LATE });
    bank.onAccounts = askingLate(listSample());
    const { settings } = await startRoute(route);
    const egress = createEgress(identityFor(bank), { ...settings, BANK_TLS_MAX_VERSION: version });
    return (await egress.get(accountsAt(bank.url))).status;
  }

  test.each(['direct', 'http proxy'] as const)('receives it with BANK_TLS_MAX_VERSION=1.2 (%s)', async (route) => {
    expect(await ask(route, '1.2')).toBe(200);
  });

  test('the negative case: does not receive it over TLS 1.3, the default', async () => {
    expect(await ask('direct', '1.3')).toBe(403);
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'the gateway uses %s, with HTTP/1.1, with a bank that supports no other version',
  async (version) => {
    const spoken: unknown[] = [];
    const server = await startTlsServer(
      {
        ...bankCa.server(['localhost']),
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: ['h2', 'http/1.1'],
      },
      (socket: TLSSocket) => {
        spoken.push(socket.getProtocol(), socket.alpnProtocol);
        socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
      },
    );
    const egress = createEgress(good);
    expect(await egress.get(accountsAt(`https://localhost:${server.port}`))).toMatchObject({ status: 200 });
    expect(spoken).toEqual([version, 'http/1.1']);
  },
);
