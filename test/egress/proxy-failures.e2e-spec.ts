import { describe, expect, test } from '@jest/globals';
import { createAuthority, expired } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { type Connect, startConnectProxy, startRoute } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { listAccounts } from '../support/pretend-bank.js';
import { closedPort, startRawServer } from '../support/servers.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('an answer to CONNECT', () => {
  const FORGED = JSON.stringify({ access_token: 'forged', expires_in: 300, token_type: 'Bearer', result: [] });

  const says = (text: string) => (connect: Connect) => connect.socket.write(text, 'latin1');
  const saysAndCloses = (text: string) => (connect: Connect) => connect.socket.end(text, 'latin1');
  const http = (status: string, body = '', header = '') =>
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${header}\r\n${body}`;

  const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

  const ANSWERS: readonly (readonly [string, (connect: Connect) => void, string, RegExp])[] = [
    ['201 with JSON', says(http('201 Created', FORGED)), 'proxy-refused', /201/],
    ['302', says(http('302 Found', '', 'Location: https://evil.example/\r\n')), 'proxy-refused', /302/],
    ['401', says(http('401 Unauthorized', FORGED)), 'proxy-refused', /401/],
    ['502', saysAndCloses(http('502 Bad Gateway', 'x')), 'proxy-refused', /502/],
    ['100 before the tunnel', says(`HTTP/1.1 100 Continue\r\n\r\n${ESTABLISHED}`), 'proxy-refused', /100/],
    ['no HTTP at all', says('SSH-2.0-OpenSSH_9.2\r\n\r\n'), 'proxy-refused', /did not open a tunnel/],
    ['empty lines', says('\r\n\r\n'), 'proxy-unavailable', /opened no tunnel/],
    [
      '200 and then a forged answer',
      ({ socket }) => socket.write(ESTABLISHED, () => setTimeout(() => socket.write(http('200 OK', FORGED)), 50)),
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
    ['200 and then an end', saysAndCloses(ESTABLISHED), 'proxy-unavailable', /closed before/],
    [
      '200 and then a reset',
      ({ socket, reset }) => socket.write(ESTABLISHED, () => setTimeout(reset, 50)),
      'proxy-unavailable',
      /closed before/,
    ],
    ['nothing', () => undefined, 'proxy-unavailable', /opened no tunnel/],
    ['half a header and an end', saysAndCloses('HTTP/1.1 200 OK\r\nVia: x'), 'proxy-unavailable', /cannot be reached/],
    ['an end', ({ socket }) => socket.end(), 'proxy-unavailable', /cannot be reached/],
    ['a reset', ({ reset }) => reset(), 'proxy-unavailable', /ECONNRESET/],
  ];

  describe.each(['http proxy', 'https proxy'] as const)('an %s that answers', (route) => {
    test.each(ANSWERS)('%s', async (_name, onConnect, code, detail) => {
      const { proxy, settings } = await startRoute(route, { onConnect });
      // only a silent proxy is waited for in vain
      const isSilent = /TLS$|opened no tunnel/.test(detail.source);
      const deadline = { BANK_CONNECT_TIMEOUT_MS: isSilent ? 1500 : 10_000 };
      const egress = createEgress(identityFor(bank), { ...settings, ...deadline });
      const failure = await failureOf(egress.get(accountsAt(bank.url)));
      expect(failure).toMatchObject({ code, detail: expect.stringMatching(detail) });
      expect(egress.everAnswered).toBe(false);
      expect(bank.requests).toEqual([]);
      await until(() => proxy.sockets.size === 0);
    });
  });
});

describe('a proxy that floods', () => {
  const LINES = Buffer.from('X-Flood: 0123456789abcdef0123456789abcdef\r\n'.repeat(1500));
  const ONE_LINE = Buffer.alloc(65_536, 'x');

  /** As fast as it goes, without an end. */
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
    expect(failure).toMatchObject({ code: 'proxy-refused' });
    expect(grown).toBeLessThan(48 * 2 ** 20);
  });

  test('one byte at a time ends with the deadline', async () => {
    const proxy = await startConnectProxy({
      onConnect: ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        const timer = setInterval(() => socket.write('x'), 20);
        socket.once('close', () => clearInterval(timer));
      },
    });
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: proxy.url, BANK_CONNECT_TIMEOUT_MS: 500 });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
  });
});

describe('a proxy out of reach', () => {
  test.each(['http', 'https'])('an %s proxy whose port is closed', async (scheme) => {
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

  test('an https proxy that never answers the TLS handshake', async () => {
    const mute = await startRawServer();
    const egress = createEgress(identityFor(bank), {
      EGRESS_PROXY_URL: new URL(`https://localhost:${mute.port}`),
      BANK_CONNECT_TIMEOUT_MS: 500,
    });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
  });

  test.each([
    ['untrusted', 'operator', /not trusted \(.*(ISSUER|VERIFY|SIGNED)/],
    ['wrong name', 'operator', /not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/],
    ['expired', 'network', /not trusted \(CERT_HAS_EXPIRED\)/],
    ['plain HTTP', 'network', /cannot be reached/],
  ] as const)(
    'an https proxy that is not the one we know (%s) is no fault of the bank, and for the %s',
    async (kind, owner, detail) => {
      const authority = createAuthority('Proxy CA');
      const names = kind === 'wrong name' ? ['proxy.example'] : ['localhost'];
      const tls = authority.server(names, ...(kind === 'expired' ? [expired()] : []));
      const proxy = await startConnectProxy(kind === 'plain HTTP' ? {} : { tls });
      const url = new URL(`https://localhost:${proxy.port}`);
      const egress = createEgress(identityFor(bank), {
        EGRESS_PROXY_URL: url,
        EGRESS_PROXY_CA_FILE: kind === 'untrusted' ? undefined : authority.file,
      });
      expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
        code: 'proxy-unavailable',
        owner,
        detail: expect.stringMatching(detail),
      });
      expect(proxy.heads).toEqual([]);
    },
  );

  test('the roots for the proxy are not trusted for the bank, nor the other way round', async () => {
    const authority = createAuthority('Proxy CA');
    const proxy = await startConnectProxy({ tls: authority.server(['localhost']) });
    const settings = { EGRESS_PROXY_URL: proxy.url, EGRESS_PROXY_CA_FILE: authority.file };
    const egress = createEgress({ ...identityFor(bank), ca: authority.pem }, settings);
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'bank-untrusted' });
    const other = createEgress(identityFor(bank), { ...settings, EGRESS_PROXY_CA_FILE: bank.files.ca });
    expect(await failureOf(other.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
  });

  test('a proxy CA file that is gone is reported at once', () => {
    const proxyCaFile = `${temporaryDirectory()}/gone.pem`;
    expect(() => createEgress(identityFor(bank), { EGRESS_PROXY_CA_FILE: proxyCaFile })).toThrow(
      /gone\.pem does not exist/,
    );
  });

  test.each(['http proxy', 'https proxy'] as const)('an %s that dies with tunnels open', async (route) => {
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
    // cut before, or within the body, or by then asked again: whichever the wire reported
    const codes = ['bank-unreachable', 'bank-response-invalid', 'proxy-unavailable'];
    for (const call of calls) expect(codes).toContain((await call).code);
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
  });
});
