import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { createAuthority, expired } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { type Connect, startConnectProxy, startRoute, withCredentials } from '../support/connect-proxy.js';
import { accountsAt, agentOf, createEgress, failureOf, identityFor } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { type PretendBank, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { closedPort, startRawServer } from '../support/servers.js';
import { type Squid, startSquid } from '../support/squid.js';
import { startTinyproxy } from '../support/tinyproxy.js';
import { hasSquid, hasTinyproxy } from '../support/tools.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('the CONNECT tunnel', () => {
  /** The https proxy requests a client certificate of any CA, and continues without one. */
  const start = (kind: 'http' | 'https') =>
    startRoute(`${kind} proxy`, kind === 'https' ? { tls: { requestCert: true, rejectUnauthorized: false } } : {});

  test.each(['http', 'https'] as const)(
    'over an %s proxy delivers our certificate to the bank and to nobody else',
    async (kind) => {
      const { proxy, settings } = await start(kind);
      const identity = identityFor(bank);
      const egress = createEgress(identity, settings);
      const answer = await egress.get(accountsAt(bank.url));

      expect(answer.status).toBe(200);
      const thumbprint = new X509Certificate(identity.cert).fingerprint.replaceAll(':', '');
      expect(bank.requests.map((request) => request.thumbprint)).toEqual([thumbprint]);
      const { host } = new URL(bank.url);
      expect(proxy.heads).toEqual([
        `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: accounts-gateway\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive\r\n\r\n`,
      ]);
      expect(proxy.clientCertificates).toEqual(kind === 'https' ? [null] : []);
      const through = Buffer.concat(proxy.tunnelled);
      // the tunnel begins with a TLS handshake record, and never carries plain text
      expect(through.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]));
      for (const word of ['GET ', 'Bearer', bank.username]) expect(through.includes(word)).toBe(false);
    },
  );

  test.each([
    ['plain', 'robot', 'pass'],
    ['@:%/?# and a space', 'ro@bot', 'p@ss:w%rd/?# x'],
    ['UTF-8', 'rõbot', 'пароль-€'],
    ['empty password', 'robot', ''],
  ])('is requested with credentials that are percent-decoded first: %s', async (_name, user, password) => {
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
    'to an IP address is checked against that address, not against the name of the %s proxy',
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

test('health shows the route of calls, and neither health nor a log line shows credentials', async () => {
  const rejecting = await startConnectProxy({
    onConnect: ({ socket }) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  });
  const proxy = withCredentials(rejecting.url, 'robot', 'secret:p@ss%');
  const gateway = await startGateway(bank, { EGRESS_PROXY_URL: proxy.href });
  const answer = await gateway.get('/api/v1/accounts');
  expect(answer.json).toMatchObject({ code: 'proxy-refused', status: 502, owner: 'operator' });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  const health = await gateway.get('/health');
  expect(health.json.details.egress).toMatchObject({ code: 'proxy-refused', owner: 'operator' });
  expect(health.json.details.egress.route).toBe(`proxy ${rejecting.url.origin}`);
  const reported = gateway.lines.join('') + answer.text + health.text;
  const basic = Buffer.from('robot:secret:p@ss%').toString('base64');
  for (const secret of ['robot', 'p@ss', 'p%40ss', basic]) expect(reported).not.toContain(secret);
});

test.each(['direct', 'http proxy'] as const)('%s: proxies in the environment are not used', async (route) => {
  const trap = await startConnectProxy();
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'npm_config_https_proxy'];
  const env = Object.fromEntries(names.map((name) => [name, trap.url.href]));
  jest.replaceProperty(process, 'env', { ...process.env, ...env, NO_PROXY: 'elsewhere' });
  const { proxy, settings } = await startRoute(route);
  expect(await createEgress(identityFor(bank), settings).get(accountsAt(bank.url))).toMatchObject({ status: 200 });
  expect([trap.accepted, proxy.heads.length]).toEqual([0, route === 'direct' ? 0 : 1]);
});
afterEach(() => void jest.restoreAllMocks());

test('the library gets no credentials, because it would write them to its debug output', async () => {
  const egress = createEgress(identityFor(bank), {
    EGRESS_PROXY_URL: new URL('http://robot:secret@proxy.example:3128'),
  });
  expect(await agentOf(egress, bank.url)).toMatchObject({ proxy: { href: 'http://proxy.example:3128/' } });
});

const USER = 'gateway';
const PASSWORD = 'se@cr:t%100/ pä$$';

(hasSquid() ? describe : describe.skip)('behind the real squid', () => {
  let bank: PretendBank;
  let squid: Squid;
  let rejecting: number;
  beforeAll(async () => {
    bank = await startPretendBank();
    rejecting = await closedPort();
    squid = await startSquid(USER, PASSWORD, [Number(new URL(bank.url).port), rejecting]);
  });

  test('the whole gateway gets token and accounts over one tunnel, and shows no credentials', async () => {
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

  test.each([
    ['a wrong password', 'wrong', 'https://127.0.0.1:1', 'proxy-refused', '407', 'operator'],
    ['a port it does not allow', PASSWORD, 'https://127.0.0.1:1', 'proxy-refused', '403', 'network'],
    ['a bank whose port is closed', PASSWORD, 'https://127.0.0.1:PORT', 'bank-unreachable', '503', 'network'],
    ['a bank without DNS', PASSWORD, 'https://no-such-bank.invalid:PORT', 'bank-unreachable', '500', 'network'],
  ])('%s has its code and owner', async (_name, password, url, code, status, owner) => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(squid.url, USER, password) });
    expect(await failureOf(egress.get(accountsAt(url.replace('PORT', String(rejecting)))))).toMatchObject({
      code,
      owner,
      detail: expect.stringContaining(`it answered ${status}`),
    });
  });
});

(hasTinyproxy() ? test : test.skip)(
  'the real tinyproxy opens a tunnel, and each rejection has its code and owner',
  async () => {
    const rejecting = await closedPort();
    const url = await startTinyproxy(USER, 'right', [Number(new URL(bank.url).port), rejecting]);
    const ask = (password: string, to = bank.url) =>
      createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(url, USER, password) }).get(accountsAt(to));
    expect((await ask('right')).status).toBe(200);
    expect(await failureOf(ask('wrong'))).toMatchObject({
      code: 'proxy-refused',
      owner: 'operator',
      detail: expect.stringMatching(/password in EGRESS_PROXY_URL.*it answered 40[17]/),
    });
    const codes = [`https://127.0.0.1:${rejecting}`, 'https://127.0.0.1:1'].map(async (to) => {
      const { code, owner } = await failureOf(ask('right', to));
      return [code, owner];
    });
    expect(await Promise.all(codes)).toEqual([
      ['bank-unreachable', 'network'],
      ['proxy-refused', 'network'],
    ]);
  },
);

describe('the response to CONNECT', () => {
  const FORGED = JSON.stringify({ access_token: 'forged', expires_in: 300, token_type: 'Bearer', result: [] });

  const says = (text: string) => (connect: Connect) => connect.socket.write(text, 'latin1');
  const saysAndCloses = (text: string) => (connect: Connect) => connect.socket.end(text, 'latin1');
  const http = (status: string, body = '', header = '') =>
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${header}\r\n${body}`;

  const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

  type Answer = readonly [string, (connect: Connect) => void, string, RegExp];
  const ANSWERS: readonly Answer[] = [
    ['201 with JSON', says(http('201 Created', FORGED)), 'proxy-refused', /does not lead to a TLS server/],
    ['302', says(http('302 Found', '', 'Location: https://evil.example/\r\n')), 'proxy-refused', /302/],
    ['401', says(http('401 Unauthorized', FORGED)), 'proxy-refused', /password.*401/],
    ['407', says(http('407 Auth', '', 'Proxy-Authenticate: Basic realm="x"\r\n')), 'proxy-refused', /password.*407/],
    [
      '407 for Negotiate and NTLM',
      says(http('407 Auth', '', 'Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n')),
      'proxy-refused',
      /offers only Negotiate and NTLM, and not Basic.*407/,
    ],
    ...(['500', '502', '503', '504'] as const).map((status): Answer => [
      status,
      saysAndCloses(http(`${status} x`)),
      'bank-unreachable',
      /is up.*Ask the bank first/,
    ]),
    ['100 before the tunnel', says(`HTTP/1.1 100 Continue\r\n\r\n${ESTABLISHED}`), 'proxy-refused', /100/],
    ['no HTTP at all', says('SSH-2.0-OpenSSH_9.2\r\n\r\n'), 'proxy-refused', /did not open a tunnel/],
    ['empty lines', says('\r\n\r\n'), 'proxy-unavailable', /opened no tunnel/],
    [
      '200 and then a forged answer',
      ({ socket }) => socket.once('data', () => socket.write(http('200 OK', FORGED))).write(ESTABLISHED),
      'proxy-refused',
      /does not lead to a TLS server/,
    ],
    [
      '200 with a forged answer in one go',
      says(ESTABLISHED + http('200 OK', FORGED)),
      'proxy-refused',
      /does not lead to a TLS server/,
    ],
    ['200 and then silence', says(ESTABLISHED), 'bank-timeout', /TLS/],
    ['200 and then an end', saysAndCloses(ESTABLISHED), 'bank-unreachable', /closed before/],
    [
      '200 and then a reset',
      ({ socket, reset }) => socket.once('data', reset).write(ESTABLISHED),
      'bank-unreachable',
      /closed before/,
    ],
    ['nothing', () => undefined, 'proxy-unavailable', /opened no tunnel/],
    ['half a header and an end', saysAndCloses('HTTP/1.1 200 OK\r\nVia: x'), 'proxy-unavailable', /whole answer/],
    ['an end', ({ socket }) => socket.end(), 'proxy-unavailable', /closed the connection/],
    ['a reset', ({ reset }) => reset(), 'proxy-unavailable', /ECONNRESET/],
  ];

  /** Through an https proxy, which differs from an http proxy only below the response. */
  const OVER_TLS = new Set(['407', '200 with a forged answer in one go', 'an end']);

  test.each(ANSWERS)('%s has its code and reason', async (name, onConnect, code, detail) => {
    const { proxy, settings } = await startRoute(OVER_TLS.has(name) ? 'https proxy' : 'http proxy', { onConnect });
    // only a silent proxy causes a timeout
    const isSilent = /TLS$|opened no tunnel/.test(detail.source);
    const deadline = { BANK_CONNECT_TIMEOUT_MS: isSilent ? 1500 : 10_000 };
    const egress = createEgress(identityFor(bank), { ...settings, ...deadline });
    const failure = await failureOf(egress.get(accountsAt(bank.url)));
    expect(failure).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect(bank.requests).toEqual([]);
    await until(() => proxy.sockets.size === 0);
  });
});

describe('a proxy that floods', () => {
  const LINES = Buffer.from('X-Flood: 0123456789abcdef0123456789abcdef\r\n'.repeat(1500));
  const ONE_LINE = Buffer.alloc(65_536, 'x');

  /** Endless bytes, as fast as possible. */
  function flood({ socket }: Connect, block: Buffer): void {
    const pour = () => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', pour);
    socket.write('HTTP/1.1 200 OK\r\nX: ');
    pour();
  }

  test.each([
    ['http proxy', 'header lines', LINES],
    ['https proxy', 'one line', ONE_LINE],
  ] as const)('an %s that floods %s', async (route, _what, block) => {
    const { settings } = await startRoute(route, { onConnect: (connect) => flood(connect, block) });
    const egress = createEgress(identityFor(bank), { ...settings, BANK_CONNECT_TIMEOUT_MS: 3000 });
    const memory = process.memoryUsage().rss;
    const failure = await failureOf(egress.get(accountsAt(bank.url)));
    const grown = process.memoryUsage().rss - memory;
    expect(failure).toMatchObject({
      code: 'proxy-refused',
      detail: expect.stringContaining('larger than 65536 bytes'),
    });
    expect(grown).toBeLessThan(48 * 2 ** 20);
  });
});

describe('an unreachable proxy', () => {
  test.each(['http', 'https'])('whose %s port is closed is proxy-unavailable', async (scheme) => {
    const egress = createEgress(identityFor(bank), {
      EGRESS_PROXY_URL: new URL(`${scheme}://127.0.0.1:${await closedPort()}`),
    });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
      code: 'proxy-unavailable',
      owner: 'network',
      status: 503,
      detail: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('that is silent during the TLS handshake is proxy-unavailable', async () => {
    const mute = await startRawServer();
    const egress = createEgress(identityFor(bank), {
      EGRESS_PROXY_URL: new URL(`https://localhost:${mute.port}`),
      BANK_CONNECT_TIMEOUT_MS: 500,
    });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
  });

  test.each([
    ['untrusted', 'proxy-refused', /issuer.*\(.*(ISSUER|VERIFY|SIGNED).*EGRESS_PROXY_CA_FILE/],
    ['wrong name', 'proxy-refused', /another name \(ERR_TLS_CERT_ALTNAME_INVALID\)/],
    ['expired', 'proxy-refused', /it \(.*CN=a server\) expired on 20.* \(CERT_HAS_EXPIRED\)/],
    ['requires a certificate', 'proxy-refused', /requires a client certificate.*\(TLS alert 116\)/],
    ['plain HTTP', 'proxy-unavailable', /opened no tunnel/],
  ] as const)("over https that is not the expected one (%s) is not the bank's fault", async (kind, code, detail) => {
    const authority = createAuthority('Proxy CA');
    const names = kind === 'wrong name' ? ['proxy.example'] : ['localhost'];
    const tls = authority.server(names, ...(kind === 'expired' ? [expired()] : []));
    const options = { tls: { ...tls, requestCert: kind === 'requires a certificate' } };
    const proxy = await startConnectProxy(kind === 'plain HTTP' ? {} : options);
    const url = new URL(`https://localhost:${proxy.port}`);
    const egress = createEgress(identityFor(bank), {
      EGRESS_PROXY_URL: url,
      EGRESS_PROXY_CA_FILE: kind === 'untrusted' ? undefined : authority.file,
      // it waits for the end of the header
      ...(kind === 'plain HTTP' && { BANK_CONNECT_TIMEOUT_MS: 500 }),
    });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
      code,
      owner: code === 'proxy-refused' ? 'operator' : 'network',
      detail: expect.stringMatching(detail),
    });
    expect(proxy.heads).toEqual([]);
  });

  test('that speaks TLS behind an http:// URL leads to a detail that suggests https://', async () => {
    const { port } = await startConnectProxy({ tls: createAuthority('Proxy CA').server(['localhost']) });
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: new URL(`http://localhost:${port}`) });
    const { detail } = await failureOf(egress.get(accountsAt(bank.url)));
    expect(detail).toContain('EGRESS_PROXY_URL must begin with https://');
  });

  test('has CA certificates that are not trusted for the bank, nor vice versa', async () => {
    const authority = createAuthority('Proxy CA');
    const proxy = await startConnectProxy({ tls: authority.server(['localhost']) });
    const settings = { EGRESS_PROXY_URL: proxy.url, EGRESS_PROXY_CA_FILE: authority.file };
    const egress = createEgress({ ...identityFor(bank), ca: authority.pem }, settings);
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'bank-untrusted' });
    const other = createEgress(identityFor(bank), { ...settings, EGRESS_PROXY_CA_FILE: bank.files.ca });
    expect(await failureOf(other.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-refused' });
  });

  test.each(['http proxy', 'https proxy'] as const)(
    'was reachable as an %s, and dies with tunnels open',
    async (route) => {
      const { proxy, settings } = await startRoute(route);
      const egress = createEgress(identityFor(bank), settings);
      bank.onAccounts = listAccounts([]);
      await Promise.all([1, 2, 3].map(() => egress.get(accountsAt(bank.url))));
      bank.onAccounts = (_request, response) => void response.writeHead(200).write('half');
      const calls = [1, 2].map(() => failureOf(egress.get(accountsAt(bank.url))));
      const asked = bank.requests.length;
      await until(() => bank.requests.length === asked + 2);
      for (const socket of proxy.sockets) socket.resetAndDestroy();
      await proxy.close();
      // cut before or within the body, or already retried, whichever was reported first
      const codes = ['bank-unreachable', 'bank-response-invalid', 'proxy-unavailable'];
      for (const call of calls) expect(codes).toContain((await call).code);
      expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
    },
  );
});
