import { describe, expect, it } from '@jest/globals';
import type { TlsOptions } from 'node:tls';
import { startDeafServer } from '../support/deaf-server.js';
import { examineWith, expectFailed, type Verdict } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret } from '../support/common-conditions.js';
import { createAuthority, expired } from '../support/authority.js';
import { type ConnectProxyOptions, startConnectProxy, withCredentials } from '../support/connect-proxy.js';
import { openSockets, expectSocketsLeft } from '../support/egress.js';
import { startOpensslServer } from '../support/openssl-server.js';
import { closedPort, startRawServer, startTlsServer } from '../support/servers.js';
import { hasOpenssl } from '../support/tools.js';

const bank = await bankForFile();

type Env = Record<string, string>;

/** What is broken, by the settings that lead there, and the report: step, code and owner, problem, remedy. */
type Case = [name: string, arrange: () => Promise<Env>, verdict: Verdict, problem: RegExp, remedy: RegExp];

const at = (port: number, host = '127.0.0.1'): Env => {
  const url = `https://${host}:${port}`;
  return { BANK_BASE_URL: url, BANK_AUTH_URL: url };
};

/** The file of a root, and a server certificate by it for these names. */
async function identity(names = ['127.0.0.1', 'localhost'], ...validity: ReturnType<typeof expired>[]) {
  const authority = createAuthority('A bank root');
  return { env: { BANK_CA_FILE: authority.file }, server: authority.server(names, ...validity), authority };
}

async function tlsServer(options: TlsOptions = {}, ...args: Parameters<typeof identity>): Promise<Env> {
  const { env, server } = await identity(...args);
  return { ...env, ...at((await startTlsServer({ ...server, ...options }, () => undefined)).port) };
}

async function openssl(...args: string[]): Promise<Env> {
  const { env, server, authority } = await identity();
  return { ...env, ...at((await startOpensslServer(server, ['-www', ...args, '-CAfile', authority.file])).port) };
}

const proxy = async (options: ConnectProxyOptions = {}) => {
  const { url } = await startConnectProxy(options);
  return { EGRESS_PROXY_URL: url.href };
};

const AUTHENTICATE = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n';
const answering = (answer: string) => proxy({ onConnect: ({ socket }) => void socket.end(answer) });

const CASES: readonly Case[] = [
  [
    'no DNS',
    async () => at(443, 'no-such-bank.invalid'),
    'dns: dns-failed, network',
    /no-such-bank\.invalid/,
    /resolver of this machine.*nslookup no-such-bank\.invalid/,
  ],
  [
    'no DNS for the proxy',
    async () => ({ EGRESS_PROXY_URL: 'http://user:secret-proxy@no-such-proxy.invalid:3128' }),
    'dns: dns-failed, network',
    /no-such-proxy\.invalid/,
    /resolver of this machine.*nslookup no-such-proxy\.invalid/,
  ],
  [
    'port closed',
    async () => {
      return at(await closedPort());
    },
    'route: bank-unreachable, network',
    /^The bank refused the connection \(127\.0\.0\.1:\d+, ECONNREFUSED\)/,
    /BANK_BASE_URL.*network team.*firewall lets 127\.0\.0\.1 connect to 127\.0\.0\.1:\d+/,
  ],
  [
    'packets dropped',
    async () => at(await startDeafServer()),
    'route: bank-timeout, bank',
    /BANK_CONNECT_TIMEOUT_MS/,
    /network team whether the firewall lets 127\.0\.0\.1.*proxy must be used.*ask the bank/,
  ],
  [
    'the second host closed, by its port alone',
    async () => {
      return { BANK_BASE_URL: `https://127.0.0.1:${await closedPort()}` };
    },
    'route: bank-unreachable, network',
    /127\.0\.0\.1:\d+, ECONNREFUSED/,
    /firewall/,
  ],
  [
    'a source address that is not of this machine',
    async () => ({ EGRESS_LOCAL_ADDRESS: '192.0.2.77' }),
    'route: config-invalid, operator',
    /EGRESS_LOCAL_ADDRESS is 192\.0\.2\.77.*not an address of this machine/,
    /Set EGRESS_LOCAL_ADDRESS/,
  ],
  [
    'a proxy that wants a password, and none given',
    () => answering(AUTHENTICATE),
    'route: proxy-refused, operator',
    /asks for a user and password, and EGRESS_PROXY_URL has none \(it answered 407\)/,
    /Set user and password.*EGRESS_PROXY_URL=http:\/\/user:password@host:port.*@ as %40/,
  ],
  [
    'a proxy that wants another password',
    async () => {
      const { EGRESS_PROXY_URL } = await answering(AUTHENTICATE);
      return { EGRESS_PROXY_URL: withCredentials(new URL(EGRESS_PROXY_URL), 'user', 'secret-proxy').href };
    },
    'route: proxy-refused, operator',
    /does not accept the user and password in EGRESS_PROXY_URL \(it answered 407\)/,
    /Set user and password.*percent-encoded.*@ as %40/,
  ],
  [
    'a proxy that refuses both hosts',
    async () => {
      const { port } = await startRawServer();
      return {
        ...(await answering('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')),
        BANK_BASE_URL: `https://127.0.0.1:${port}`,
      };
    },
    'route: proxy-refused, network',
    /did not open a tunnel to 127\.0\.0\.1:\d+ .*did not open a tunnel to 127\.0\.0\.1:\d+ /,
    /allow CONNECT to 127\.0\.0\.1:\d+ on the proxy.*allow CONNECT to 127\.0\.0\.1:\d+ on the proxy/,
  ],
  [
    'both ports closed',
    async () => {
      return { ...at(await closedPort()), BANK_BASE_URL: `https://127.0.0.1:${await closedPort()}` };
    },
    'route: bank-unreachable, network',
    /ECONNREFUSED.*ECONNREFUSED/,
    /Check host and port in BANK_AUTH_URL.*Check host and port in BANK_BASE_URL/,
  ],
  [
    'a proxy that forbids it',
    () => answering('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
    'route: proxy-refused, network',
    /it answered 403/,
    /allow CONNECT to 127\.0\.0\.1:\d+/,
  ],
  [
    'a proxy that cannot reach the bank',
    () => answering('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n'),
    'route: proxy-refused, network',
    /it answered 503/,
    /why the proxy cannot reach 127\.0\.0\.1:\d+/,
  ],
  [
    'a proxy that hangs up after its 200',
    () => answering('HTTP/1.1 200 Connection established\r\n\r\n'),
    'route: proxy-unavailable, network',
    /tunnel/,
    /network team.*whether the proxy reaches/,
  ],
  [
    'a proxy that is not there',
    async () => {
      return { EGRESS_PROXY_URL: `http://127.0.0.1:${await closedPort()}` };
    },
    'route: proxy-unavailable, network',
    /ECONNREFUSED/,
    /EGRESS_PROXY_URL.*127\.0\.0\.1 may connect to 127\.0\.0\.1:\d+/,
  ],
  [
    'a silent proxy',
    () => proxy({ onConnect: () => undefined }),
    'route: proxy-unavailable, network',
    /opened no tunnel/,
    /whether the proxy reaches/,
  ],
  [
    'an https proxy that is not trusted',
    async () => {
      const { server } = await identity();
      return proxy({ tls: server });
    },
    'route: proxy-unavailable, operator',
    /certificate of the egress proxy \S+ is not trusted/,
    /EGRESS_PROXY_CA_FILE/,
  ],
  [
    'a server certificate by an unknown root',
    async () => {
      const { BANK_CA_FILE: _unknown, ...env } = await tlsServer();
      return env;
    },
    'tls: bank-untrusted, operator',
    /not trusted \(.*(ISSUER|SIGNATURE|VERIFY)/,
    /the certificate of CN=A bank root.*BANK_CA_FILE.*TLS inspection/,
  ],
  [
    'the same, and no roots given',
    async () => ({ ...(await tlsServer()), BANK_CA_FILE: '' }),
    'tls: bank-untrusted, operator',
    /not trusted \(.*(ISSUER|SIGNATURE|VERIFY)/,
    /the certificate of CN=A bank root.*set BANK_CA_FILE.*TLS inspection/,
  ],
  [
    'a server certificate that has expired',
    () => tlsServer({}, ['127.0.0.1'], expired()),
    'tls: bank-untrusted, operator',
    /CERT_HAS_EXPIRED/,
    /clock.*tell the bank that the certificate of 127\.0\.0\.1:\d+ is not valid/,
  ],
  [
    'a server certificate for another name',
    () => tlsServer({}, ['other.example']),
    'tls: bank-untrusted, operator',
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    /Check the name in BANK_BASE_URL/,
  ],
  [
    'a server that looks at our certificate after its ticket, and hangs up',
    async () => {
      const { env, server, authority } = await identity();
      const options = { ...server, ca: authority.pem, requestCert: true, rejectUnauthorized: true };
      return { ...env, ...at((await startTlsServer(options, () => undefined)).port) };
    },
    'tls: certificate-rejected, operator',
    /closed the connection before its first answer/,
    /thumbprint [0-9A-F]{40}.*allowlist.*intermediates/,
  ],
  [
    'the same on the second host alone',
    async () => {
      const { env, server, authority } = await identity();
      const options = { ...server, ca: authority.pem, requestCert: true, rejectUnauthorized: true };
      const { port } = await startTlsServer(options, () => undefined);
      const first = await startTlsServer(server, () => undefined);
      return { ...env, BANK_AUTH_URL: `https://127.0.0.1:${first.port}`, BANK_BASE_URL: `https://127.0.0.1:${port}` };
    },
    'tls: certificate-rejected, operator',
    /^127\.0\.0\.1:\d+ closed/,
    /thumbprint [0-9A-F]{40}/,
  ],
  [
    'a server that closes after accepting',
    async () => at((await startRawServer((socket) => void socket.end())).port),
    'tls: certificate-rejected, operator',
    /closed the connection/,
    /ended during the handshake.*network team/,
  ],
  [
    'a server that says nothing',
    async () => at((await startRawServer(() => undefined)).port),
    'tls: bank-timeout, bank',
    /No TLS connection/,
    /blocks TLS.*ask the bank/,
  ],
  [
    'plain HTTP on the port',
    async () => at((await startRawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))).port),
    'tls: bank-unreachable, network',
    /The TLS handshake with 127\.0\.0\.1:\d+ failed/,
    /port in BANK_BASE_URL.*does not speak TLS/,
  ],
];

const OPENSSL_CASES: readonly Case[] = [
  ...(['-tls1_2', '-tls1_3'] as const).map((version): Case => [
    `our certificate refused by an alert (${version})`,
    () => openssl(version, '-Verify', '3', '-verify_return_error'),
    'tls: certificate-rejected, operator',
    /refused our client certificate \(TLS alert \d+\)/,
    /thumbprint [0-9A-F]{40}/,
  ]),
  [
    'TLS 1.1 only',
    () => openssl('-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0'),
    'tls: bank-unreachable, network',
    /handshake/,
    /enable TLS 1\.2 or 1\.3/,
  ],
];

describe('the doctor names the broken connection', () => {
  const check = async (...[, arrange, verdict, problem, remedy]: Case) => {
    const examination = await examineWith({ ...toEnvironment(bank), ...(await arrange()) });
    expectFailed(examination, verdict, problem, remedy);
    expect(bank.requests).toEqual([]);
    expectNoSecret(examination.everything, ['secret-proxy', bank.password, bank.username]);
  };

  it.each(CASES)('%s', check);
  (hasOpenssl() ? it : it.skip).each(OPENSSL_CASES)('%s', check);

  it('leaves no socket behind', async () => {
    const env = await proxy({ onConnect: () => undefined });
    const { port } = await startRawServer();
    const before = openSockets();
    await examineWith({ ...toEnvironment(bank), ...env });
    await examineWith({ ...toEnvironment(bank), ...at(port) });
    await expectSocketsLeft(before);
  });

  it('keeps the facts it has when TLS fails: the chain of a server that is not trusted, and where it is', async () => {
    const { step, text } = await examineWith({
      ...toEnvironment(bank),
      ...(await tlsServer({}, ['other.example'], expired())),
    });
    const { bank: facts } = step('tls').facts as { bank: { serverChain: { names: string; validTo: string }[] } };
    expect(facts.serverChain[0]).toMatchObject({ names: 'DNS:other.example', validTo: expect.stringMatching(/Z$/) });
    expect(text).toContain('DNS:other.example');
    expect(step('route').facts['bank']).toMatchObject({
      route: 'direct',
      remoteAddress: '127.0.0.1',
      sourceAddress: '127.0.0.1',
      sourceAddressIs: expect.stringContaining('local'),
    });
    expect(text).toMatch(/bank\.sourceAddress +127\.0\.0\.1$/m);
  });

  it('shows what the proxy answered, and never its password', async () => {
    const { url } = await startConnectProxy({
      onConnect: ({ socket }) => void socket.end('HTTP/1.1 407 x\r\n\r\n'),
    });
    const withPassword = withCredentials(url, 'proxy-user', 'secret@proxy:%');
    const { step, everything } = await examineWith({ ...toEnvironment(bank), EGRESS_PROXY_URL: withPassword.href });
    expect(step('route').facts['bank']).toMatchObject({ proxyStatus: 407, route: `proxy ${url.origin}` });
    expect(step('dns').facts['bank']).toMatchObject({ host: '127.0.0.1', note: expect.stringContaining('proxy') });
    for (const secret of [
      'proxy-user',
      'secret@proxy',
      'secret%40',
      Buffer.from('proxy-user:secret@proxy:%').toString('base64'),
    ]) {
      expect(everything).not.toContain(secret);
    }
  });
});
