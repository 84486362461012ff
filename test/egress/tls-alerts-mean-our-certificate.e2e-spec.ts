import { beforeAll, describe, expect, test } from '@jest/globals';
import { insistingOn, startOpensslServer } from '../support/openssl-server.js';
import { type Authority, createAuthority, expired } from '../support/authority.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, type ClientIdentity, createEgress, failureOf } from '../support/egress.js';
import { startRawServer, startTlsServer } from '../support/servers.js';
import { hasOpenssl } from '../support/tools.js';

let bankCa: Authority;
let otherCa: Authority;
let good: ClientIdentity;

beforeAll(async () => {
  bankCa = createAuthority('Bank CA');
  otherCa = createAuthority('Other CA');
  good = { ...bankCa.client('good client'), ca: bankCa.pem };
});

/** The real openssl as a bank that insists on a client certificate of its own. */
const startInsisting = async (...options: string[]) =>
  (await startOpensslServer(bankCa.server(['localhost']), ['-www', ...insistingOn(bankCa.file), ...options])).port;

(hasOpenssl() ? describe : describe.skip)('the real openssl', () => {
  test.each([
    ['-tls1_2', 'of another authority', () => ({ ...otherCa.client('stranger'), ca: bankCa.pem }), 48],
    ['-tls1_3', 'of another authority', () => ({ ...otherCa.client('stranger'), ca: bankCa.pem }), 48],
    ['-tls1_2', 'that has expired', () => ({ ...bankCa.client('late', expired()), ca: bankCa.pem }), 45],
    ['-tls1_3', 'that has expired', () => ({ ...bankCa.client('late', expired()), ca: bankCa.pem }), 45],
    ['-tls1_2', 'for servers', () => ({ ...bankCa.server(['x']), ca: bankCa.pem }), 43],
    ['-tls1_3', 'for servers', () => ({ ...bankCa.server(['x']), ca: bankCa.pem }), 43],
  ] as const)('%s refuses a certificate %s', async (version, _what, identity, alert) => {
    const port = await startInsisting(version);
    const failures = await Promise.all(
      ['direct', 'proxy'].map(async (route) => {
        const proxy = route === 'proxy' ? (await startConnectProxy()).url : null;
        return failureOf(
          createEgress(identity(), { EGRESS_PROXY_URL: proxy }).get(accountsAt(`https://localhost:${port}`)),
        );
      }),
    );
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: 'certificate-rejected', owner: 'operator', status: 502 });
      // 1.3: the reset that follows may overtake the alert
      expect(failure.detail).toMatch(new RegExp(`TLS alert ${alert}|closed the connection before its first answer`));
      if (version === '-tls1_2') expect(failure.detail).toContain(`TLS alert ${alert}`);
    }
  });

  test.each(['-tls1_2', '-tls1_3'])('%s accepts a good one', async (version) => {
    const port = await startInsisting(version);
    const answer = await createEgress(good).get(accountsAt(`https://localhost:${port}`));
    expect(answer.status).toBe(200);
  });

  test('TLS 1.1 only is no matter of certificates', async () => {
    const port = await startInsisting('-tls1_1', '-cipher', 'ALL:@SECLEVEL=0');
    expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
      code: 'bank-unreachable',
      detail: expect.stringContaining('TLS handshake'),
    });
  });
});

/** A server that answers the ClientHello with this fatal alert. */
const alerting = (alert: number) =>
  startRawServer((socket) => socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert]))));

test.each([40, 42, 43, 44, 45, 46, 47, 48, 116])('alert %i in the handshake: certificate-rejected', async (alert) => {
  const { port } = await alerting(alert);
  expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
    code: 'certificate-rejected',
    detail: expect.stringContaining(`TLS alert ${alert}`),
  });
});

test.each([10, 20, 50, 70, 71, 80, 112])('alert %i in the handshake: bank-unreachable', async (alert) => {
  const { port } = await alerting(alert);
  expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
    code: 'bank-unreachable',
    detail: expect.stringContaining(`TLS alert ${alert}`),
  });
});

test.each(['end', 'reset'])('%s in the handshake of a bank that never answered: certificate-rejected', async (how) => {
  const server = await startRawServer((socket) =>
    socket.once('data', () => (how === 'end' ? socket.end() : socket.resetAndDestroy())),
  );
  expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${server.port}`)))).toMatchObject({
    code: 'certificate-rejected',
    detail: expect.stringMatching(/chain is missing.*allowlist/),
  });
});

test.each(['before the first answer', 'after an answer'])(
  'a connection closed after the handshake, %s',
  async (when) => {
    let answers = when === 'after an answer' ? 1 : 0;
    const server = await startTlsServer(
      { ...bankCa.server(['localhost']), ca: bankCa.pem, requestCert: true, rejectUnauthorized: true },
      (socket) =>
        socket.on('data', () => {
          if (answers > 0) socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
          else socket.destroy();
          answers -= 1;
        }),
    );
    const egress = createEgress(good);
    const url = `https://localhost:${server.port}`;
    if (when === 'after an answer') {
      expect((await egress.get(accountsAt(url))).status).toBe(401);
      expect(egress.everAnswered).toBe(true);
    }
    expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
      code: when === 'after an answer' ? 'bank-unreachable' : 'certificate-rejected',
    });
  },
);
