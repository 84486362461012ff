import { X509Certificate } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { TunnelAgent } from '../../src/egress/agents.js';
import { bankForFile } from '../support/bank-for-file.js';
import { startConnectProxy, startRoute, withCredentials } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { closedPort } from '../support/servers.js';
import { type Squid, startSquid } from '../support/squid.js';
import { hasSquid } from '../support/tools.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('the CONNECT tunnel', () => {
  /** An https proxy asks for a certificate of any authority, and goes on without one. */
  const start = (kind: 'http' | 'https') =>
    startRoute(`${kind} proxy`, kind === 'https' ? { tls: { requestCert: true, rejectUnauthorized: false } } : {});

  test.each(['http', 'https'] as const)(
    'over an %s proxy our certificate reaches the bank and nobody else',
    async (kind) => {
      const { proxy, settings } = await start(kind);
      const identity = identityFor(bank);
      const egress = createEgress(identity, settings);
      const answer = await egress.get(accountsAt(bank.url));

      expect(answer.status).toBe(200);
      const thumbprint = new X509Certificate(identity.cert).fingerprint.replaceAll(':', '');
      expect(bank.requests.map((request) => request.thumbprint)).toEqual([thumbprint]);
      const { host } = new URL(bank.url);
      expect(proxy.heads).toEqual([`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n`]);
      expect(proxy.clientCertificates).toEqual(kind === 'https' ? [null] : []);
      const through = Buffer.concat(proxy.tunnelled);
      // a TLS handshake record is the first thing in the tunnel, and nothing readable ever
      expect(through.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]));
      for (const word of ['GET ', 'Bearer', bank.username]) expect(through.includes(word)).toBe(false);
    },
  );

  test.each([
    ['plain', 'robot', 'pass'],
    ['@:%/?# and a space', 'ro@bot', 'p@ss:w%rd/?# x'],
    ['UTF-8', 'rõbot', 'пароль-€'],
    ['empty password', 'robot', ''],
  ])('credentials with %s are decoded before they are sent', async (_name, user, password) => {
    const { proxy } = await start('http');
    const lines: string[] = [];
    const egress = createEgress(
      identityFor(bank),
      { EGRESS_PROXY_URL: withCredentials(proxy.url, user, password) },
      lines,
    );
    await egress.get(accountsAt(bank.url));
    const sent = /^Proxy-Authorization: Basic (.+)$/m.exec(proxy.heads[0] ?? '')?.[1] ?? '';
    expect(Buffer.from(sent.trim(), 'base64').toString('utf8')).toBe(`${user}:${password}`);
    expect(bank.requests[0]?.headers['proxy-authorization']).toBeUndefined();
    expect(lines.join('')).not.toContain(sent.trim());
  });

  test.each(['http', 'https'] as const)(
    'a bank named by address is checked against that address, not against the name of the %s proxy',
    async (kind) => {
      const named = await startPretendBank({ serverNames: ['localhost'] });
      const { proxy, settings } = await start(kind);
      proxy.url.hostname = 'localhost';
      const egress = createEgress(identityFor(named), { ...settings, EGRESS_PROXY_URL: proxy.url });
      expect(await failureOf(egress.get(accountsAt(named.url)))).toMatchObject({ code: 'bank-untrusted' });
      expect(named.requests).toEqual([]);
      expect((await egress.get(accountsAt(named.url.replace('127.0.0.1', 'localhost')))).status).toBe(200);
    },
  );
});

test('health shows the route that calls take, and neither it nor a log line shows credentials', async () => {
  const refusing = await startConnectProxy({
    onConnect: ({ socket }) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  });
  const proxy = withCredentials(refusing.url, 'robot', 'secret:p@ss%');
  const gateway = await startGateway(bank, { EGRESS_PROXY_URL: proxy.href });
  const answer = await gateway.get('/api/v1/accounts');
  expect(answer.json).toMatchObject({ code: 'proxy-refused', status: 502, owner: 'network' });
  const health = await gateway.get('/health');
  expect(health.json.details.egress.route).toBe(`proxy ${refusing.url.origin}`);
  const reported = gateway.lines.join('') + answer.text + health.text;
  const basic = Buffer.from('robot:secret:p@ss%').toString('base64');
  for (const secret of ['robot', 'p@ss', 'p%40ss', basic]) expect(reported).not.toContain(secret);
});

test.each(['direct', 'http proxy'] as const)('%s: proxies that the environment names are not asked', async (route) => {
  const trap = await startConnectProxy();
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'npm_config_https_proxy'];
  const env = Object.fromEntries(names.map((name) => [name, trap.url.href]));
  jest.replaceProperty(process, 'env', { ...process.env, ...env, NO_PROXY: 'elsewhere' });
  const { proxy, settings } = await startRoute(route);
  expect(await createEgress(identityFor(bank), settings).get(accountsAt(bank.url))).toMatchObject({ status: 200 });
  expect([trap.accepted, proxy.heads.length]).toEqual([0, route === 'direct' ? 0 : 1]);
});
afterEach(() => void jest.restoreAllMocks());

test('the library gets no credentials, which it would write into its debug output', () => {
  const proxy = new URL('http://robot:secret@proxy.example:3128');
  const settings = {
    BANK_TLS_MAX_VERSION: '1.3',
    BANK_CONNECT_TIMEOUT_MS: 1,
    EGRESS_LOCAL_ADDRESS: undefined,
  } as const;
  expect(new TunnelAgent(proxy, null, identityFor(bank), settings).proxy.href).toBe('http://proxy.example:3128/');
});

const USER = 'gateway';
const PASSWORD = 'se@cr:t%100/ pä$$';

(hasSquid() ? describe : describe.skip)('through the real squid', () => {
  let bank: PretendBank;
  let squid: Squid;
  let refusing: number;
  beforeAll(async () => {
    bank = await startPretendBank();
    refusing = await closedPort();
    squid = await startSquid(USER, PASSWORD, [Number(new URL(bank.url).port), refusing]);
  });

  test('the whole gateway: token and accounts over one tunnel, and no credentials anywhere', async () => {
    const proxy = withCredentials(squid.url, USER, PASSWORD);
    const gateway = await startGateway(bank, { EGRESS_PROXY_URL: proxy.href });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    const health = await gateway.get('/health');
    expect(health.json.details.egress.route).toBe(`proxy ${squid.url.origin}`);

    expect(bank.requests.every(({ thumbprint }) => thumbprint !== null)).toBe(true);
    expect(bank.requests.some(({ headers }) => headers['proxy-authorization'] ?? headers.via)).toBe(false);
    await gateway.close();
    await until(() => squid.log().includes('TCP_TUNNEL/200'));
    const tunnels = squid
      .log()
      .split('\n')
      .filter((line) => line.includes('TCP_TUNNEL/200'));
    expect(tunnels).toHaveLength(1);
    expect(tunnels[0]).toContain(`CONNECT ${new URL(bank.url).host} ${USER}`);
    const reported = gateway.lines.join('') + health.text;
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), `${USER}:`]) expect(reported).not.toContain(secret);
  });

  test('tunnels are reused', async () => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(squid.url, USER, PASSWORD) });
    await Promise.all(Array.from({ length: 50 }, () => egress.get(accountsAt(bank.url))));
    expect(bank.sockets.size).toBeLessThanOrEqual(6);
    egress.retire();
    await until(() => bank.sockets.size === 0);
  });

  test.each([
    ['a wrong password', 'wrong', 'https://127.0.0.1:1', '407'],
    ['a port it does not allow', PASSWORD, 'https://127.0.0.1:1', '403'],
    ['a bank whose port is closed', PASSWORD, 'https://127.0.0.1:PORT', '50'],
    ['a bank without DNS', PASSWORD, 'https://no-such-bank.invalid:PORT', '50'],
  ])('%s: proxy-refused', async (_name, password, url, status) => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(squid.url, USER, password) });
    expect(await failureOf(egress.get(accountsAt(url.replace('PORT', String(refusing)))))).toMatchObject({
      code: 'proxy-refused',
      detail: expect.stringContaining(`it answered ${status}`),
    });
  });
});
