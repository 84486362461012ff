import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import { type Authority, createAuthority, expired } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startRoute } from '../support/connect-proxy.js';
import { accountsAt, type ClientIdentity, createEgress, failureOf } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { startNginx } from '../support/nginx.js';
import { insistingOn, startOpensslServer } from '../support/openssl-server.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { startRawServer, startTlsServer } from '../support/servers.js';
import { hasNginx, hasOpenssl } from '../support/tools.js';

it('a refused client certificate is reported to callers and operators, with chain and allowlist', async () => {
  const closing = await startPretendBank();
  closing.onToken = ({ socket }) => void socket.destroy();
  const gateway = await startGateway(closing);
  const answer = await askInTime(gateway);
  expect(answer.json).toMatchObject({ status: 502, code: 'certificate-rejected', owner: 'operator' });
  expect(answer.json.detail).toMatch(/chain.*allowlist/);
  expect(gateway.events('bank.unavailable')).toMatchObject([{ level: 'error', code: 'certificate-rejected' }]);
  await expectCommonConditions(closing, gateway, [answer]);
});

describe('TLS alerts', () => {
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
      ['-tls1_2', 'of another authority', 'direct', () => otherCa.client('stranger'), 48],
      ['-tls1_3', 'of another authority', 'http proxy', () => otherCa.client('stranger'), 48],
      ['-tls1_2', 'that has expired', 'http proxy', () => bankCa.client('late', expired()), 45],
      ['-tls1_3', 'that has expired', 'direct', () => bankCa.client('late', expired()), 45],
      ['-tls1_3', 'for servers', 'direct', () => bankCa.server(['x']), 43],
    ] as const)('%s refuses a certificate %s (%s)', async (version, _what, route, identity, alert) => {
      const port = await startInsisting(version);
      const { settings } = await startRoute(route);
      const egress = createEgress({ ...identity(), ca: bankCa.pem }, settings);
      const failure = await failureOf(egress.get(accountsAt(`https://localhost:${port}`)));
      expect(failure).toMatchObject({ code: 'certificate-rejected', owner: 'operator', status: 502 });
      // 1.3: the reset that follows may overtake the alert
      const late = version === '-tls1_3' ? '|closed the connection before its first answer' : '';
      expect(failure.detail).toMatch(new RegExp(`TLS alert ${alert}${late}`));
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

  test.each([
    [42, 'certificate-rejected'],
    [80, 'bank-unreachable'],
  ])('alert %i in the handshake: %s', async (alert, code) => {
    const { port } = await alerting(alert);
    expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
      code,
      detail: expect.stringContaining(`TLS alert ${alert}`),
    });
  });

  test.each(['end', 'reset'])(
    '%s in the handshake of a bank that never answered: certificate-rejected',
    async (how) => {
      const server = await startRawServer((socket) =>
        socket.once('data', () => (how === 'end' ? socket.end() : socket.resetAndDestroy())),
      );
      expect(await failureOf(createEgress(good).get(accountsAt(`https://localhost:${server.port}`)))).toMatchObject({
        code: 'certificate-rejected',
        detail: expect.stringMatching(/chain is missing.*allowlist/),
      });
    },
  );

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
});

(hasNginx() ? test : test.skip).each([
  [false, { status: 502, code: 'certificate-rejected', detail: expect.stringMatching(/answered 400 with a page/) }],
  [true, { accounts: [] }],
])('behind the real nginx, which knows our certificate: %s', async (knowsUs, expected) => {
  const bank = await startPretendBank();
  const authority = createAuthority('An nginx root');
  const ourRoot = readFileSync(bank.files.ca, 'utf8');
  const roots = join(temporaryDirectory(), 'roots.pem');
  writeFileSync(roots, ourRoot + authority.pem);
  const port = await startNginx(authority.server(['127.0.0.1']), knowsUs ? ourRoot : authority.pem);
  const gateway = await startGateway(bank, { BANK_CA_FILE: roots, BANK_BASE_URL: `https://127.0.0.1:${port}` });
  expect((await gateway.get('/api/v1/accounts')).json).toMatchObject(expected);
});
