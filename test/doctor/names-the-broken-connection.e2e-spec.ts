import { beforeAll, describe, expect, it } from '@jest/globals';
import type { TlsOptions } from 'node:tls';
import { checkDns } from '../../src/doctor/check-dns.js';
import { toHosts } from '../../src/doctor/hosts.js';
import { readSettings } from '../../src/config/read-settings.js';
import { startDeafServer } from '../support/deaf-server.js';
import { examineWith, expectFailed, type Expected } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { createAuthority, expired } from '../support/authority.js';
import { type ConnectProxyOptions, startConnectProxy, withCredentials } from '../support/connect-proxy.js';
import { openSockets, expectSocketsLeft } from '../support/egress.js';
import { startOpensslServer } from '../support/openssl-server.js';
import { closedPort, startRawServer, startTlsServer } from '../support/servers.js';
import { hasOpenssl } from '../support/tools.js';
import { startPretendBank, type PretendBank } from '../support/pretend-bank.js';

type Env = Record<string, string>;

interface Case extends Expected {
  readonly name: string;
  /** Breaks the way; gives the settings that differ. */
  readonly arrange: (bank: PretendBank) => Promise<Env>;
}

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

const route = { step: 'route', exit: 5 } as const;
const tls = { step: 'tls', exit: 6 } as const;
const rejected = { ...tls, code: 'certificate-rejected', owner: 'operator' } as const;
const untrusted = { ...tls, code: 'bank-untrusted', owner: 'operator' } as const;
const unavailable = { code: 'bank-unreachable', owner: 'network' } as const;

const CASES: readonly Case[] = [
  {
    name: 'no DNS',
    arrange: async () => at(443, 'no-such-bank.invalid'),
    step: 'dns',
    code: 'dns-failed',
    owner: 'network',
    exit: 4,
    problem: /no-such-bank\.invalid/,
    remedy: /resolver of this machine.*nslookup no-such-bank\.invalid/,
  },
  {
    name: 'no DNS for the proxy',
    arrange: async () => ({ EGRESS_PROXY_URL: 'http://user:secret-proxy@no-such-proxy.invalid:3128' }),
    step: 'dns',
    code: 'dns-failed',
    owner: 'network',
    exit: 4,
    problem: /no-such-proxy\.invalid/,
    remedy: /resolver of this machine.*nslookup no-such-proxy\.invalid/,
  },
  {
    name: 'port closed',
    arrange: async () => {
      return at(await closedPort());
    },
    ...route,
    ...unavailable,
    problem: /^127\.0\.0\.1:\d+: The bank refused the connection.*ECONNREFUSED/,
    remedy: /BANK_BASE_URL.*network team.*firewall lets 127\.0\.0\.1 connect to 127\.0\.0\.1:\d+/,
  },
  {
    name: 'packets dropped',
    arrange: async () => at(await startDeafServer()),
    ...route,
    code: 'bank-timeout',
    owner: 'bank',
    problem: /BANK_CONNECT_TIMEOUT_MS/,
    remedy: /network team whether the firewall lets 127\.0\.0\.1.*proxy must be used.*ask the bank/,
  },
  {
    name: 'the second host closed, by its port alone',
    arrange: async () => {
      return { BANK_BASE_URL: `https://127.0.0.1:${await closedPort()}` };
    },
    ...route,
    ...unavailable,
    problem: /the account list, ECONNREFUSED/,
    remedy: /firewall/,
  },
  {
    name: 'a source address that is not of this machine',
    arrange: async () => ({ EGRESS_LOCAL_ADDRESS: '192.0.2.77' }),
    ...route,
    code: 'config-invalid',
    owner: 'operator',
    problem: /EGRESS_LOCAL_ADDRESS is 192\.0\.2\.77.*no address of this machine/,
    remedy: /Set EGRESS_LOCAL_ADDRESS/,
  },
  {
    name: 'a proxy that wants a password, and none given',
    arrange: () => answering(AUTHENTICATE),
    ...route,
    code: 'proxy-refused',
    owner: 'operator',
    problem: /asks for a user and password, and EGRESS_PROXY_URL has none \(it answered 407\)/,
    remedy: /Set user and password.*EGRESS_PROXY_URL=http:\/\/user:password@host:port.*@ as %40/,
  },
  {
    name: 'a proxy that wants another password',
    arrange: async () => {
      const { EGRESS_PROXY_URL } = await answering(AUTHENTICATE);
      return { EGRESS_PROXY_URL: withCredentials(new URL(EGRESS_PROXY_URL), 'user', 'secret-proxy').href };
    },
    ...route,
    code: 'proxy-refused',
    owner: 'operator',
    problem: /does not accept the user and password in EGRESS_PROXY_URL \(it answered 407\)/,
    remedy: /Set user and password.*percent-encoded.*@ as %40/,
  },
  {
    name: 'a proxy that refuses both hosts',
    arrange: async () => {
      const { port } = await startRawServer();
      return {
        ...(await answering('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')),
        BANK_BASE_URL: `https://127.0.0.1:${port}`,
      };
    },
    ...route,
    code: 'proxy-refused',
    owner: 'network',
    problem: /the token endpoint.*the account list/,
    remedy: /allow CONNECT to 127\.0\.0\.1:\d+ on the proxy.*allow CONNECT to 127\.0\.0\.1:\d+ on the proxy/,
  },
  {
    name: 'both ports closed',
    arrange: async () => {
      return { ...at(await closedPort()), BANK_BASE_URL: `https://127.0.0.1:${await closedPort()}` };
    },
    ...route,
    ...unavailable,
    problem: /ECONNREFUSED.*ECONNREFUSED/,
    remedy: /Check host and port in BANK_AUTH_URL.*Check host and port in BANK_BASE_URL/,
  },
  {
    name: 'a proxy that forbids it',
    arrange: () => answering('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
    ...route,
    code: 'proxy-refused',
    owner: 'network',
    problem: /it answered 403/,
    remedy: /allow CONNECT to 127\.0\.0\.1:\d+/,
  },
  {
    name: 'a proxy that cannot reach the bank',
    arrange: () => answering('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n'),
    ...route,
    code: 'proxy-refused',
    owner: 'network',
    problem: /it answered 503/,
    remedy: /why the proxy cannot reach 127\.0\.0\.1:\d+/,
  },
  {
    name: 'a proxy that hangs up after its 200',
    arrange: () => answering('HTTP/1.1 200 Connection established\r\n\r\n'),
    ...route,
    code: 'proxy-unavailable',
    owner: 'network',
    problem: /tunnel/,
    remedy: /network team.*whether the proxy reaches/,
  },
  {
    name: 'a proxy that is not there',
    arrange: async () => {
      return { EGRESS_PROXY_URL: `http://127.0.0.1:${await closedPort()}` };
    },
    ...route,
    code: 'proxy-unavailable',
    owner: 'network',
    problem: /ECONNREFUSED/,
    remedy: /EGRESS_PROXY_URL.*127\.0\.0\.1 may connect to 127\.0\.0\.1:\d+/,
  },
  {
    name: 'a silent proxy',
    arrange: () => proxy({ onConnect: () => undefined }),
    ...route,
    code: 'proxy-unavailable',
    owner: 'network',
    problem: /opened no tunnel/,
    remedy: /whether the proxy reaches/,
  },
  {
    name: 'an https proxy that is not trusted',
    arrange: async () => {
      const { server } = await identity();
      return proxy({ tls: server });
    },
    ...route,
    code: 'proxy-unavailable',
    owner: 'operator',
    problem: /certificate of the egress proxy \S+ is not trusted/,
    remedy: /EGRESS_PROXY_CA_FILE/,
  },
  {
    name: 'a server certificate by an unknown root',
    arrange: async () => {
      const { BANK_CA_FILE: _unknown, ...env } = await tlsServer();
      return env;
    },
    ...untrusted,
    problem:
      /not trusted \(.*(ISSUER|SIGNATURE|VERIFY).*BANK_CA_FILE holds no root of it, only: CN=Sandbox Bank Root CA/,
    remedy: /the certificate of CN=A bank root.*BANK_CA_FILE.*TLS inspection/,
  },
  {
    name: 'the same, and no roots given',
    arrange: async () => ({ ...(await tlsServer()), BANK_CA_FILE: '' }),
    ...untrusted,
    problem: /not trusted \(.*(ISSUER|SIGNATURE|VERIFY).*BANK_CA_FILE is not set, so only the roots of Node count/,
    remedy: /the certificate of CN=A bank root.*as BANK_CA_FILE.*TLS inspection/,
  },
  {
    name: 'a server certificate that has expired',
    arrange: () => tlsServer({}, ['127.0.0.1'], expired()),
    ...untrusted,
    problem: /CERT_HAS_EXPIRED/,
    remedy: /clock.*tell the bank that the certificate of 127\.0\.0\.1:\d+ is not valid/,
  },
  {
    name: 'a server certificate for another name',
    arrange: () => tlsServer({}, ['other.example']),
    ...untrusted,
    problem: /ERR_TLS_CERT_ALTNAME_INVALID/,
    remedy: /Check the name in BANK_BASE_URL/,
  },
  {
    name: 'a server that looks at our certificate after its ticket, and hangs up',
    arrange: async () => {
      const { env, server, authority } = await identity();
      const options = { ...server, ca: authority.pem, requestCert: true, rejectUnauthorized: true };
      return { ...env, ...at((await startTlsServer(options, () => undefined)).port) };
    },
    ...rejected,
    problem: /closed the connection before its first answer/,
    remedy: /thumbprint [0-9A-F]{40}.*allowlist.*intermediates/,
  },
  {
    name: 'the same on the second host alone',
    arrange: async () => {
      const { env, server, authority } = await identity();
      const options = { ...server, ca: authority.pem, requestCert: true, rejectUnauthorized: true };
      const { port } = await startTlsServer(options, () => undefined);
      const first = await startTlsServer(server, () => undefined);
      return { ...env, BANK_AUTH_URL: `https://127.0.0.1:${first.port}`, BANK_BASE_URL: `https://127.0.0.1:${port}` };
    },
    ...rejected,
    problem: /the account list/i,
    remedy: /thumbprint [0-9A-F]{40}/,
  },
  {
    name: 'a server that closes after accepting',
    arrange: async () => at((await startRawServer((socket) => void socket.end())).port),
    ...rejected,
    problem: /closed the connection/,
    remedy: /ended within the handshake.*network team/,
  },
  {
    name: 'a server that says nothing',
    arrange: async () => at((await startRawServer(() => undefined)).port),
    ...tls,
    code: 'bank-timeout',
    owner: 'bank',
    problem: /No TLS connection/,
    remedy: /swallows TLS.*ask the bank/,
  },
  {
    name: 'plain HTTP on the port',
    arrange: async () => at((await startRawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))).port),
    ...tls,
    ...unavailable,
    problem: /The TLS handshake with the bank failed/,
    remedy: /port in BANK_BASE_URL.*does not speak TLS/,
  },
];

const OPENSSL_CASES: readonly Case[] = [
  ...(['-tls1_2', '-tls1_3'] as const).map((version) => ({
    name: `our certificate refused by an alert (${version})`,
    arrange: () => openssl(version, '-Verify', '3', '-verify_return_error'),
    ...rejected,
    problem: /refused our client certificate \(TLS alert \d+\)/,
    remedy: /thumbprint [0-9A-F]{40}/,
  })),
  {
    name: 'TLS 1.1 only',
    arrange: () => openssl('-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0'),
    ...tls,
    ...unavailable,
    problem: /handshake/,
    remedy: /enable TLS 1\.2 or 1\.3/,
  },
];

describe('the doctor names the broken connection', () => {
  let bank: PretendBank;
  beforeAll(async () => {
    bank = await startPretendBank();
  });

  const run = async ({ arrange, ...expected }: Case) => {
    const env = await arrange(bank);
    const before = bank.requests.length;
    const examination = await examineWith({ ...toEnvironment(bank), ...env });
    expectFailed(examination, expected);
    expect(bank.requests).toHaveLength(before);
    expect(examination.ms).toBeLessThan(5000);
    return examination;
  };

  it.each(CASES)('$name → $step, $code', async (each) => {
    const { everything } = await run(each);
    for (const secret of ['secret-proxy', bank.password, bank.username]) expect(everything).not.toContain(secret);
  });

  (hasOpenssl() ? it : it.skip).each(OPENSSL_CASES)('$name → $step, $code', async (each) => {
    await run(each);
  });

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
    expect(text).toMatch(/Source address +127\.0\.0\.1 \(the local one/);
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

  it('ends the wait for a slow name in time', async () => {
    const { settings } = readSettings(toEnvironment(bank), { sandbox: false });
    const hosts = toHosts({
      ...settings,
      BANK_BASE_URL: 'https://slow.example',
      BANK_AUTH_URL: 'https://quick.example',
    });
    const findings = { facts: {}, lines: [] };
    const never = new Promise<never>(() => undefined);
    const started = performance.now();
    await expect(
      checkDns(hosts, 100, findings, (name) =>
        name === 'slow.example' ? never : Promise.resolve([{ address: '192.0.2.1' }]),
      ),
    ).rejects.toMatchObject({ code: 'dns-failed', problem: expect.stringContaining('within 100 ms') });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(findings.facts).toMatchObject({ tokens: { addresses: ['192.0.2.1'] } });
  });
});
