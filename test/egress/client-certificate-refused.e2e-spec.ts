import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { type Authority, createAuthority, expired } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, type ClientIdentity, createEgress, failureOf } from '../support/egress.js';
import { examineWith, expectFailed } from '../support/examination.js';
import { startGateway, toEnvironment } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { startNginx } from '../support/nginx.js';
import { insistingOn, startOpensslServer } from '../support/openssl-server.js';
import { type Handler, startPretendBank } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';
import { siblingCertificate, start } from '../support/sandbox.js';
import { startRawServer, startTlsServer } from '../support/servers.js';
import { hasNginx, hasOpenssl } from '../support/tools.js';

const bank = await bankForFile();

/** OpenSSL's own server in place of this sandbox, which sends real alerts and trusts the clients of `clientCa`. */
async function startOpenssl(
  { directory }: Sandbox,
  clientCa: string,
  ...more: string[]
): Promise<Record<string, string>> {
  const [cert = '', key = ''] = ['server.pem', 'server-key.pem'].map((name) =>
    readFileSync(join(directory, name), 'utf8'),
  );
  const { port } = await startOpensslServer({ cert, key }, ['-www', ...insistingOn(clientCa), ...more]);
  const url = `https://127.0.0.1:${port}`;
  return { BANK_BASE_URL: url, BANK_AUTH_URL: url };
}

describe('a refused client certificate', () => {
  it.each([
    ['TLS 1.2, within the handshake', ['-tls1_2']],
    ['TLS 1.3, after it', ['-tls1_3']],
  ])('by an alert: %s', async (_name, more) => {
    const [sandbox, other] = [await start(), await start({ directory: temporaryDirectory() })];
    const gateway = await startGateway(sandbox, await startOpenssl(sandbox, other.files.ca, ...more));
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 502, code: 'certificate-rejected', owner: 'operator' });
    expect(answer.json.detail).toMatch(/alert (48|42|46)/);
    expect(gateway.events('bank.unavailable')).toMatchObject([{ level: 'error', code: 'certificate-rejected' }]);
  });

  it('the counterpart: the same server with the right CA lets us through to its answer', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, await startOpenssl(sandbox, sandbox.files.ca));
    // -www answers 200 with a page of its own
    expect((await askInTime(gateway)).json).toMatchObject({ status: 502, code: 'bank-response-invalid' });
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'by a connection closed before any answer (%s), naming the chain and the allowlist; then slowly again',
    async (version) => {
      const [bank, other] = [await startPretendBank({ server: { maxVersion: version } }), await startPretendBank()];
      const ca = readFileSync(other.files.ca);
      bank.onToken = ({ socket }) => void socket.destroy();
      const refusing = await startPretendBank({ server: { ca, maxVersion: version } });
      const clock = new MovedClock();
      const gateway = await startGateway(refusing, {}, clock);
      const answer = await askInTime(gateway);
      expect(answer.json).toMatchObject({ status: 502, code: 'certificate-rejected', owner: 'operator' });
      expect(refusing.requests).toEqual([]);
      clock.advance(29_000);
      expect((await gateway.get('/health')).json.details.token).toMatchObject({ state: 'waiting' });
      await expectCommonConditions(refusing, gateway, [answer]);

      const closing = await startGateway(bank);
      const closed = await askInTime(closing);
      expect(closed.json).toMatchObject({ status: 502, code: 'certificate-rejected' });
      expect(closed.json.detail).toMatch(/chain/);
      expect(closed.json.detail).toMatch(/allowlist/);
      await expectCommonConditions(bank, closing, [closed]);
    },
  );

  it('once it was answered, a closed connection is bank-unreachable', async () => {
    const bank = await startPretendBank();
    const clock = new MovedClock();
    const gateway = await startGateway(bank, {}, clock);
    expect((await askInTime(gateway)).status).toBe(200);
    bank.onAccounts = ({ socket }) => void socket.destroy();
    for (const socket of bank.sockets) socket.destroy();
    clock.advance(20_000);
    const answer = await askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect(answer.json).toMatchObject({ status: 503, code: 'bank-unreachable', owner: 'network' });
  });

  it("a token is refused with another certificate than its own, and another's password with ours", async () => {
    const sandbox = await start();
    const { pfx, passphrase } = (await siblingCertificate(sandbox)) as { pfx: Buffer; passphrase: string };
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'sibling.pfx'), pfx);
    writeFileSync(join(directory, 'passcode'), passphrase);
    const sibling = {
      BANK_PFX_FILE: join(directory, 'sibling.pfx'),
      BANK_PFX_PASSCODE_FILE: join(directory, 'passcode'),
    };
    // the sandbox knows the CA, so it answers; what it thinks of the holder is its matter
    const gateway = await startGateway(sandbox, sibling);
    expect((await askInTime(gateway)).status).toBe(200);
    const wrong = await startGateway(sandbox, { BANK_PASSWORD_FILE: join(directory, 'passcode') });
    expect((await askInTime(wrong)).json).toMatchObject({ code: 'credentials-rejected', owner: 'operator' });
  });
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

describe('nginx', () => {
  const REJECTED = { code: 'certificate-rejected', owner: 'operator' };

  /** The settings of a gateway with the bank's client certificate, whose list, or whose all, stands behind nginx. */
  async function behindNginx(what: 'everything' | 'the list', knowsUs: boolean): Promise<Record<string, string>> {
    const authority = createAuthority('An nginx root');
    const ourRoot = readFileSync(bank.files.ca, 'utf8');
    const roots = join(temporaryDirectory(), 'roots.pem');
    writeFileSync(roots, ourRoot + authority.pem);
    const port = await startNginx(authority.server(['127.0.0.1']), knowsUs ? ourRoot : authority.pem);
    const url = `https://127.0.0.1:${port}`;
    return { BANK_CA_FILE: roots, BANK_BASE_URL: url, ...(what === 'everything' && { BANK_AUTH_URL: url }) };
  }

  (hasNginx() ? describe : describe.skip)('the real nginx', () => {
    test.each(['everything', 'the list'] as const)('%s behind it: a certificate it does not know', async (what) => {
      const gateway = await startGateway(bank, await behindNginx(what, false));
      const { json } = await gateway.get('/api/v1/accounts');
      expect(json).toMatchObject({
        ...REJECTED,
        status: 502,
        detail: expect.stringMatching(/answered 400 with a page/),
      });
      // a refusal of the certificate is waited out as one of the password
      expect(Number((await gateway.get('/health')).json.details.bank.circuit === 'open')).toBe(1);
    });

    test.each(['everything', 'the list'] as const)(
      '%s behind it, the counterpart: a certificate it knows',
      async (what) => {
        const gateway = await startGateway(bank, await behindNginx(what, true));
        expect((await gateway.get('/api/v1/accounts')).json).toMatchObject({ accounts: [] });
      },
    );

    test('the doctor reports it in the step for TLS', async () => {
      expectFailed(
        await examineWith({ ...toEnvironment(bank), ...(await behindNginx('everything', false)) }),
        'tls: certificate-rejected, operator',
        /answered 400 with a page/,
        /thumbprint [0-9A-F]{40}/,
      );
    });
  });

  const page =
    (status: number, text: string, type = 'text/html'): Handler =>
    (_request, response) =>
      response.writeHead(status, { 'content-type': type }).end(text);

  const NO_CERTIFICATE = '<html><head><title>400 No required SSL certificate was sent</title></head></html>';

  describe.each(['onToken', 'onAccounts'] as const)('a page (%s)', (endpoint) => {
    test.each<[string, Handler, object]>([
      ['nginx without a certificate', page(400, NO_CERTIFICATE), REJECTED],
      [
        'the same with 403, which nginx never says',
        page(403, NO_CERTIFICATE),
        { detail: expect.stringMatching(/certificate.*firewall/) },
      ],
      [
        '400 with another page',
        page(400, `<html>${PLANTED.text}</html>`),
        { detail: expect.stringMatching(/certificate.*firewall/) },
      ],
      [
        '403 with a page',
        page(403, '<!DOCTYPE html><h1>Blocked</h1>', ''),
        { detail: expect.stringMatching(/certificate.*firewall/) },
      ],
    ])('%s', async (_name, handler, expected) => {
      bank[endpoint] = handler;
      const { json, text } = await (await startGateway(bank)).get('/api/v1/accounts');
      expect(json).toMatchObject({ status: 502, owner: 'operator', ...expected });
      expect(text).not.toContain(PLANTED.text);
    });

    test.each([400, 403])('%i with JSON, the counterpart, is no page', async (status) => {
      bank[endpoint] = page(status, '{"message":"The SSL certificate error"}', 'application/json');
      const { json } = await (await startGateway(bank)).get('/api/v1/accounts');
      expect(json.code).not.toBe('certificate-rejected');
      expect(json.detail).not.toMatch(/firewall/);
    });
  });
});
