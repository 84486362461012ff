import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readSettings } from '../../src/config/read-settings.js';
import { describeRoute } from '../../src/egress/route.js';
import { bankForFile } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { startConnectProxy, startRoute, withCredentials } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { startGateway, toEnvironment } from '../support/gateway.js';
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

describe('the route in health and logs', () => {
  const PROXY = 'http://user:secret@proxy.example:3128';

  test.each([
    [{}, 'direct'],
    [{ EGRESS_LOCAL_ADDRESS: '127.0.0.2' }, 'direct from 127.0.0.2'],
    [{ EGRESS_PROXY_URL: PROXY }, 'proxy http://proxy.example:3128'],
    [{ EGRESS_PROXY_URL: PROXY, EGRESS_LOCAL_ADDRESS: '127.0.0.2' }, 'proxy http://proxy.example:3128 from 127.0.0.2'],
    [{ EGRESS_PROXY_URL: 'https://user:secret@[::1]:8443' }, 'proxy https://[::1]:8443'],
    [{ HTTPS_PROXY: PROXY }, 'proxy http://proxy.example:3128'],
    [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other.example' }, 'proxy http://proxy.example:3128'],
    [{ HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, 'direct'],
    [{ HTTPS_PROXY: PROXY, EGRESS_PROXY_URL: 'direct' }, 'direct'],
    [{ HTTPS_PROXY: PROXY, NO_PROXY: '127.0.0.1' }, 'direct'],
    [{ EGRESS_PROXY_URL: PROXY, no_proxy: '127.0.0.0/8' }, 'direct'],
    [
      { EGRESS_PROXY_URL: PROXY, NO_PROXY: '*', EGRESS_NO_PROXY: 'elsewhere.example' },
      'proxy http://proxy.example:3128',
    ],
  ])('%j is reported as %s', (env, route) => {
    const { settings } = readSettings({ ...toEnvironment(bank), ...env }, { sandbox: false });
    expect(describeRoute(settings, bank.url)).toBe(route);
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
});

describe('the environment', () => {
  const ROOT = join(import.meta.dirname, '../..');
  const LOADER = join(ROOT, 'test/support/load-typescript.js');

  /** Runs the egress of src in a process of its own, which has this environment from the start. */
  const SCRIPT = `
const { settings, tls, url } = JSON.parse(process.argv[2]);
const { Egress } = await import(process.argv[3]);
const egress = new Egress({ ...settings, EGRESS_PROXY_URL: settings.EGRESS_PROXY_URL && new URL(settings.EGRESS_PROXY_URL) }, tls, { logger: { debug() {} }, activity: { emit() {} }, clock: { now: () => ({ wall: Date.now(), monotonic: 0 }) } });
const answer = await egress.get({ target: 'accounts', baseUrl: url, path: '/api/v1/accounts', headers: {} });
console.log(answer.status);
egress.retire();
`;

  async function runWith(env: Record<string, string>, settings: object, tls: object, url: string) {
    const script = join(temporaryDirectory(), 'run.mjs');
    writeFileSync(script, SCRIPT);
    const all = {
      BANK_TLS_MAX_VERSION: '1.3',
      BANK_CONNECT_TIMEOUT_MS: 1000,
      BANK_REQUEST_TIMEOUT_MS: 3000,
      BANK_MAX_CONCURRENT_REQUESTS: 6,
      BANK_MAX_RESPONSE_BYTES: 1e6,
      EGRESS_PROXY_URL: null,
      EGRESS_NO_PROXY: '',
      EGRESS_PROXY_CA_FILE: undefined,
      EGRESS_LOCAL_ADDRESS: undefined,
      ...settings,
    };
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--import', LOADER, script, JSON.stringify({ settings: all, tls, url }), join(ROOT, 'src/egress/egress.ts')],
      { env: { PATH: process.env['PATH'] ?? '', ...env } },
    );
    return { status: stdout.trim(), stderr };
  }

  function proxyVariables(url: URL): Record<string, string> {
    const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
    return Object.fromEntries(['npm_config_https_proxy', ...names].map((name) => [name, url.href]));
  }

  test('direct stays direct', async () => {
    const bank = await startPretendBank();
    const trap = await startConnectProxy();
    for (const native of [{}, { NODE_USE_ENV_PROXY: '1' }, { NODE_OPTIONS: '--use-env-proxy' }]) {
      const env = { ...proxyVariables(trap.url), ...native };
      expect(await runWith(env, {}, identityFor(bank), bank.url)).toMatchObject({ status: '200' });
    }
    expect(trap.accepted).toBe(0);
    expect(bank.requests).toHaveLength(3);
  });

  test('the configured proxy stays the configured proxy, whatever NO_PROXY says', async () => {
    const bank = await startPretendBank();
    const trap = await startConnectProxy();
    const proxy = await startConnectProxy();
    const env = { ...proxyVariables(trap.url), NO_PROXY: '*', no_proxy: '*', NODE_USE_ENV_PROXY: '1' };
    const run = await runWith(env, { EGRESS_PROXY_URL: proxy.url.href }, identityFor(bank), bank.url);
    expect(run).toMatchObject({ status: '200' });
    expect(trap.accepted).toBe(0);
    expect(proxy.heads).toHaveLength(1);
  });

  test('debug output of the libraries holds no credentials', async () => {
    const bank = await startPretendBank();
    const proxy = await startConnectProxy();
    proxy.url.username = 'robot';
    proxy.url.password = 'secret-proxy-password';
    const run = await runWith(
      { DEBUG: '*', NODE_DEBUG: 'http,https,net,tls' },
      { EGRESS_PROXY_URL: proxy.url.href },
      identityFor(bank),
      bank.url,
    );
    expect(run).toMatchObject({ status: '200' });
    expect(run.stderr).not.toContain('secret-proxy-password');
    expect(run.stderr).not.toContain(Buffer.from('robot:secret-proxy-password').toString('base64'));
  });
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
    ['a wrong password', (url: URL) => withCredentials(url, USER, 'secret-wrong'), 407],
    ['no password', (url: URL) => url, 407],
  ])('%s: proxy-refused', async (_name, proxyOf, status) => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: proxyOf(squid.url) });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
      code: 'proxy-refused',
      detail: expect.stringContaining(`it answered ${status}`),
    });
  });

  test.each([
    ['a port it does not allow', 'https://127.0.0.1:1', '403'],
    ['a bank whose port is closed', null, '50'],
    ['a bank without DNS', 'https://no-such-bank.invalid:PORT', '50'],
  ])('%s: proxy-refused', async (_name, url, status) => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(squid.url, USER, PASSWORD) });
    const target = accountsAt((url ?? 'https://127.0.0.1:PORT').replace('PORT', String(refusing)));
    expect(await failureOf(egress.get(target))).toMatchObject({
      code: 'proxy-refused',
      detail: expect.stringContaining(`it answered ${status}`),
    });
  });
});
