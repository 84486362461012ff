import { describe, expect, it } from '@jest/globals';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { Clock } from '../../src/time/clock.js';
import { createAuthority, expired } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret } from '../support/common-conditions.js';
import { startConnectProxy, withCredentials } from '../support/connect-proxy.js';
import { openSockets, expectSocketsLeft } from '../support/egress.js';
import { examineWith, expectFailed, type Verdict } from '../support/examination.js';
import { toEnvironment } from '../support/bank-address.js';
import { startOpensslServer } from '../support/openssl-server.js';
import { ASKS_LATE, askingLate } from '../support/late-certificate.js';
import { issueToken, json, startPretendBank, type Handler } from '../support/pretend-bank.js';
import { startRedis } from '../support/redis.js';
import { listSample, PLANTED, sampleAccount } from '../support/sample-accounts.js';
import { closedPort, startRawServer, startTlsServer } from '../support/servers.js';
import { hasOpenssl, hasRedis } from '../support/tools.js';

const bank = await bankForFile();

type Env = Record<string, string>;

/** Short timeouts, for peers that stay silent. */
const SILENT: Env = { BANK_CONNECT_TIMEOUT_MS: '600' };

/** The broken step, the settings or handlers that break it, and the expected report. */
type Case = [name: string, arrange: () => Env | Promise<Env>, verdict: Verdict, problem: RegExp];

const at = (port: number, host = '127.0.0.1'): Env => {
  const url = `https://${host}:${port}`;
  return { BANK_BASE_URL: url, BANK_AUTH_URL: url };
};

/** A server certificate for these names from a separate, trusted CA. */
async function tlsServer(
  options: TlsOptions = {},
  names = ['127.0.0.1'],
  validity?: ReturnType<typeof expired>,
  onSocket: (socket: TLSSocket) => void = () => undefined,
) {
  const authority = createAuthority('A bank root');
  const server = { ...authority.server(names, validity), ca: authority.pem, ...options };
  return { BANK_CA_FILE: authority.file, ...at((await startTlsServer(server, onSocket)).port) };
}

async function openssl(...args: string[]): Promise<Env> {
  const authority = createAuthority('A bank root');
  const options = ['-www', ...args, '-CAfile', authority.file];
  const server = await startOpensslServer(authority.server(['127.0.0.1']), options);
  return { BANK_CA_FILE: authority.file, ...at(server.port) };
}

const proxyAnswering = async (answer: string): Promise<Env> => {
  const { url } = await startConnectProxy({ onConnect: ({ socket }) => void socket.end(`HTTP/1.1 ${answer}\r\n\r\n`) });
  return { EGRESS_PROXY_URL: withCredentials(url, 'user', 'secret-proxy').href };
};

const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    json(response, status, body, headers);
const hang: Handler = () => undefined;

const onToken = (handler: Handler) => (): Env => {
  bank.onToken = handler;
  return {};
};
const onAccounts =
  (handler: Handler, env: Env = {}) =>
  (): Env => {
    bank.onAccounts = handler;
    return env;
  };

/** A case for each step, and for each reason that is not in test/bank-faults/causes-at-start. */
const CASES: readonly Case[] = [
  [
    'several settings',
    () => ({
      BANK_BASE_URL: 'https://u:secret-in-url@bank',
      BANK_PAGE_SIZE: '0',
      BANK_PASSWORD_FILE: '',
      EGRESS_PROXY_URL: 'socks://user:secret-proxy@proxy',
    }),
    'settings: config-invalid, operator',
    /(?=.*BANK_BASE_URL)(?=.*BANK_PAGE_SIZE)(?=.*BANK_PASSWORD is missing)(?=.*EGRESS_PROXY_URL)/,
  ],
  [
    'a wrong passcode',
    () => ({ BANK_PFX_PASSCODE_FILE: '', BANK_PFX_PASSCODE: 'secret-wrong-one' }),
    'certificate: pfx-unreadable, operator',
    /passcode/,
  ],
  ['no DNS', () => at(443, 'no-such-bank.invalid'), 'dns: dns-failed, network', /no-such-bank\.invalid/],
  [
    'no DNS for the proxy',
    () => ({ EGRESS_PROXY_URL: 'http://user:secret-proxy@no-such-proxy.invalid:3128' }),
    'dns: dns-failed, network',
    /no-such-proxy\.invalid/,
  ],
  [
    'the port of the second host closed',
    async () => ({ BANK_BASE_URL: `https://127.0.0.1:${await closedPort()}` }),
    'route: bank-unreachable, network',
    /^The bank \(127\.0\.0\.1:\d+\) cannot be reached: it refused the TCP connection \(ECONNREFUSED\)/,
  ],
  [
    'a proxy that hangs up after its 200',
    () => proxyAnswering('200 Connection established'),
    'tls: bank-unreachable, network',
    /tunnel/,
  ],
  [
    'a server certificate by an unknown root',
    async () => ({ ...(await tlsServer()), BANK_CA_FILE: '' }),
    'tls: bank-untrusted, operator',
    /not trusted: .* \([A-Z_]+\)/,
  ],
  [
    'a server that looks at our certificate after its ticket, and hangs up',
    () => tlsServer({ requestCert: true, rejectUnauthorized: true }),
    'tls: certificate-rejected, operator',
    /closed two connections in a row/,
  ],
  [
    'a wrong password',
    onToken(answer(401, PLANTED)),
    'token: credentials-rejected, operator',
    /answered 401.*allowlist/,
  ],
  ['no grant', onAccounts(answer(404)), 'accounts: access-not-granted, bank', /answered 404.*BANK_BASE_URL/],
  [
    'an account list that never becomes complete',
    onAccounts(hang, { SNAPSHOT_READ_TIMEOUT_MS: '300' }),
    'accounts: bank-timeout, bank',
    /SNAPSHOT_READ_TIMEOUT_MS/,
  ],
  [
    'an account of another shape',
    onAccounts(answer(200, { result: [sampleAccount(1), sampleAccount(2, { balances: 'none' })] })),
    'shape: bank-response-invalid, bank',
    /result\[1\]\.balances is not an array/,
  ],
];

/** It accepts our certificate, and closes the connection because it cannot reach the bank. A close over TLS 1.2 shows that. */
const TERMINATOR: Case = [
  'a TLS terminator whose bank is away',
  () =>
    tlsServer({ requestCert: true, rejectUnauthorized: false }, undefined, undefined, (socket) => void socket.end()),
  'tls: bank-unreachable, network',
  /closed the connection before its answer/,
];

/** In TLS 1.3, the alert comes after the handshake. */
const ALERT: Case = [
  'our certificate rejected by an alert',
  () => openssl('-tls1_3', '-Verify', '3', '-verify_return_error'),
  'tls: certificate-rejected, operator',
  /rejected our client certificate: .* \(TLS alert \d+\)/,
];

describe('the doctor reports the broken step', () => {
  const check = async (...[, arrange, verdict, problem]: Case) => {
    const examination = await examineWith({ ...toEnvironment(bank), ...(await arrange()) });
    expectFailed(examination, verdict, problem);
    const { username, password, tokens } = bank;
    expectNoSecret(examination.everything, ['secret-', username, password, ...tokens, ...Object.values(PLANTED)]);
    if (/^(dns|route)/.test(verdict)) expect(bank.requests).toEqual([]);
  };

  it.each([...CASES, TERMINATOR])('%s', check);
  (hasOpenssl() ? it : it.skip).each([ALERT])('%s', check);

  it('after it has tried TLS 1.2 once, if the bank may request the certificate late', async () => {
    const late = await startPretendBank({ server: ASKS_LATE });
    late.onToken = askingLate(issueToken(late));
    const { step, exitCode } = await examineWith(toEnvironment(late));
    expect([exitCode, step('token')]).toMatchObject([
      7,
      {
        code: 'address-not-allowed',
        owner: 'operator',
        problem: expect.stringContaining('Over TLS 1.2 the bank accepts the certificate and issues a token'),
        remedy: expect.stringContaining('BANK_TLS_MAX_VERSION=1.2'),
      },
    ]);
    // the negative case: TLS 1.2 does not help
    const reference = { bankCode: 'AddressUnknown', bankTraceId: '4bf92f3577b34da6a3ce929d0e0e4736' };
    bank.onToken = answer(403, { errorCode: reference.bankCode, traceId: reference.bankTraceId });
    const { step: other, text } = await examineWith(toEnvironment(bank));
    expect(other('token').problem).toContain('TLS 1.2 was tried once and gave the same (address-not-allowed)');
    expect(other('token').facts).toMatchObject(reference);
    expect(text).toMatch(/bankCode +AddressUnknown\n +bankTraceId +4bf92f3577/);
    expect(bank.requests.filter(({ path }) => path.includes('authorize'))).toHaveLength(2);
  });

  const checkRedis = async (redis: Record<string, string>, reason: string) => {
    bank.onAccounts = listSample();
    const { report, exitCode, everything } = await examineWith({ ...toEnvironment(bank), ...redis });
    expect([exitCode, report.ok, report.steps.at(-1)]).toMatchObject([
      10,
      false,
      { name: 'sharing', status: 'failed', code: 'sharing-unavailable', owner: 'operator' },
    ]);
    expect(report.steps.at(-1)?.problem).toContain(reason);
    expect(everything).not.toContain('secret-');
  };

  it('if Redis is not running', async () => {
    await checkRedis({ REDIS_URL: `redis://127.0.0.1:${await closedPort()}` }, 'ECONNREFUSED');
  });

  (hasRedis() ? it : it.skip)('if Redis rejects the user', async () => {
    await checkRedis((await startRedis({ credentials: 'nobody:secret-@' })).env, 'WRONGPASS');
  });

  it('without leaving a socket behind', async () => {
    const { url } = await startConnectProxy({ onConnect: () => undefined });
    const { port } = await startRawServer();
    const before = openSockets();
    await examineWith({ ...toEnvironment(bank), ...SILENT, EGRESS_PROXY_URL: url.href });
    await examineWith({ ...toEnvironment(bank), ...SILENT, ...at(port) });
    await expectSocketsLeft(before);
  });

  it('with the facts so far: chain and address of an untrusted server', async () => {
    const { step, text } = await examineWith({
      ...toEnvironment(bank),
      ...(await tlsServer({}, ['other.example'], expired())),
    });
    expect(step('tls').facts).toMatchObject({ bank: { serverChain: [{ names: 'DNS:other.example' }, {}] } });
    expect(text).toContain('DNS:other.example');
    expect(step('route').facts['bank']).toMatchObject({
      route: 'direct',
      remoteAddress: '127.0.0.1',
      sourceAddress: '127.0.0.1',
      sourceAddressIs: expect.stringContaining('local'),
    });
  });

  it('with class and location of an internal error, without its message, and exit code 1', async () => {
    const clock = new Clock();
    clock.now = () => {
      throw new RangeError('secret-message');
    };
    const { report, exitCode, everything } = await examineWith(toEnvironment(bank), { clock });
    expect([exitCode, report.ok]).toEqual([1, false]);
    expect(report.steps.find(({ status }) => status === 'failed')).toMatchObject({
      code: 'internal-error',
      owner: 'operator',
      problem: expect.stringMatching(/internal error of the gateway: RangeError at /),
    });
    expect(everything).not.toContain('secret-message');
  });
});
