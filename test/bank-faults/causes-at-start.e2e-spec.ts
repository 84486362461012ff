import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { keepCauses } from '../support/cause-table.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { startDeafServer } from '../support/deaf-server.js';
import { examineWith } from '../support/examination.js';
import { startGateway, toEnvironment, type LogLine } from '../support/gateway.js';
import { insistingOn, startOpensslServer } from '../support/openssl-server.js';
import { json, type Handler } from '../support/pretend-bank.js';
import { scrape } from '../support/scrape.js';
import { closedPort, startRawServer, startTlsServer } from '../support/servers.js';
import { hasOpenssl } from '../support/tools.js';

// Causes at the start of a gateway: the app's response, /health and log report one code and one owner, the doctor too
// unless it knows more, and one alert fires. `npm run causes` prints the table, with the gateway's default deadlines.

const bank = await bankForFile();

type Env = Record<string, string>;

/** The cause, its setup, code and owner, and the doctor's code if it differs. */
type Row = [cause: string, arrange: () => Env | Promise<Env>, code: string, owner: string, doctor?: string];

/** A deadline short enough for a test, but long enough to get a token on a busy machine. */
const BANK_REQUEST_TIMEOUT_MS = process.env['CAUSES'] ? '10000' : '3000';
/** For a bank that is never reached. */
const LATE: Env = { BANK_CONNECT_TIMEOUT_MS: process.env['CAUSES'] ? '3000' : '600', BANK_REQUEST_TIMEOUT_MS };

const at = (port: number, host = '127.0.0.1'): Env => {
  const url = `https://${host}:${port}`;
  return { BANK_BASE_URL: url, BANK_AUTH_URL: url };
};

const answer =
  (status: number, body: unknown = {}, headers: Env = {}): Handler =>
  (_request, response) =>
    json(response, status, body, headers);

const token = (handler: Handler) => () => {
  bank.onToken = handler;
  return {};
};

const list =
  (handler: Handler, env: Env = {}) =>
  () => {
    bank.onAccounts = handler;
    return env;
  };

async function tls(authorityIsTrusted: boolean, names: string[]): Promise<Env> {
  const authority = createAuthority('A bank root');
  const { port } = await startTlsServer(authority.server(names), () => undefined);
  return { ...at(port), ...(authorityIsTrusted && { BANK_CA_FILE: authority.file }) };
}

async function proxy(status: string): Promise<Env> {
  const { url } = await startConnectProxy({ onConnect: ({ socket }) => void socket.end(`HTTP/1.1 ${status}\r\n\r\n`) });
  return { EGRESS_PROXY_URL: url.href };
}

async function client(notBefore: number, notAfter: number): Promise<Env> {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000);
  const { pfx, passcode } = await bank.issueClient('other', { notBefore: day(notBefore), notAfter: day(notAfter) });
  writeFileSync(join(bank.directory, 'other.pfx'), pfx);
  return { BANK_PFX_FILE: join(bank.directory, 'other.pfx'), BANK_PFX_PASSCODE: passcode, BANK_PFX_PASSCODE_FILE: '' };
}

async function closingServer(): Promise<Env> {
  const authority = createAuthority('A bank root');
  const { port } = await startTlsServer(authority.server(['127.0.0.1']), (socket) => void socket.destroy());
  return { ...at(port), BANK_CA_FILE: authority.file };
}

async function alertingServer(): Promise<Env> {
  const authority = createAuthority('A bank root');
  const { port } = await startOpensslServer(authority.server(['127.0.0.1']), ['-www', ...insistingOn(authority.file)]);
  return { ...at(port), BANK_CA_FILE: authority.file };
}

const ROWS: readonly Row[] = [
  ['refused', async () => at(await closedPort()), 'bank-unreachable', 'network'],
  ['SYN lost', async () => ({ ...LATE, ...at(await startDeafServer()) }), 'bank-unreachable', 'network'],
  ['no DNS', () => at(443, 'no-such-bank.invalid'), 'bank-unreachable', 'network', 'dns-failed'],
  ['accepts and stays silent', async () => ({ ...LATE, ...at((await startRawServer()).port) }), 'bank-timeout', 'bank'],
  [
    'reset in the handshake',
    async () => at((await startRawServer((socket) => socket.once('data', () => socket.resetAndDestroy()))).port),
    'bank-unreachable',
    'network',
  ],
  [
    'plain HTTP on the port',
    async () =>
      at((await startRawServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 x\r\n\r\n')))).port),
    'bank-untrusted',
    'operator',
  ],
  [
    'TLS alert 80',
    async () =>
      at(
        (await startRawServer((socket) => socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 80])))))
          .port,
      ),
    'bank-error',
    'bank',
  ],
  ['closed after the handshake', closingServer, 'certificate-rejected', 'operator'],
  ['wrong name', () => tls(true, ['other.example']), 'bank-untrusted', 'operator'],
  ['other CA', () => tls(false, ['127.0.0.1']), 'bank-untrusted', 'operator'],
  [
    'proxy down',
    async () => ({ EGRESS_PROXY_URL: `http://127.0.0.1:${await closedPort()}` }),
    'proxy-unavailable',
    'network',
  ],
  ['proxy 407', () => proxy('407 Proxy Authentication Required'), 'proxy-refused', 'operator'],
  ['proxy 403', () => proxy('403 Forbidden'), 'proxy-refused', 'network'],
  ['proxy 502', () => proxy('502 Bad Gateway'), 'bank-unreachable', 'network'],
  ['client certificate expired', () => client(-20, -1), 'certificate-unusable', 'operator'],
  ['client certificate not yet valid', () => client(2, 400), 'certificate-unusable', 'operator'],
  ['password changed at the bank', token(answer(401)), 'credentials-rejected', 'operator'],
  ['token 403', token(answer(403)), 'address-not-allowed', 'operator'],
  ['token 496', token(answer(496, '<html>No certificate')), 'certificate-rejected', 'operator'],
  ['token 500', token(answer(500)), 'bank-error', 'bank'],
  ['token 429 for 45 s', token(answer(429, {}, { 'retry-after': '45' })), 'bank-rate-limited', 'bank'],
  ['list 404', list(answer(404)), 'access-not-granted', 'bank'],
  ['list 403', list(answer(403)), 'bank-refused', 'operator'],
  ['list 429 for 3600 s', list(answer(429, {}, { 'retry-after': '3600' })), 'bank-rate-limited', 'bank'],
  ['list 503 for 600 s', list(answer(503, {}, { 'retry-after': '600' })), 'bank-error', 'bank'],
  ['list 500', list(answer(500)), 'bank-error', 'bank'],
  ['list slow', list(() => undefined, { BANK_REQUEST_TIMEOUT_MS }), 'bank-timeout', 'bank'],
  ['list HTML', list(answer(200, '<html>', { 'content-type': 'text/html' })), 'bank-response-invalid', 'bank'],
];

const { keep, checkAlerts } = keepCauses();

describe('each cause at the start has one code and one owner, for apps, /health, log and doctor', () => {
  const check = async (...[cause, arrange, code, owner, doctor = code]: Row) => {
    const env = await arrange();
    const gateway = await startGateway(bank, env);
    const before = await scrape(gateway);
    const begun = performance.now();
    const app = await gateway.get('/api/v1/accounts');
    const seconds = (performance.now() - begun) / 1000;
    expect([app.json.code, app.json.owner]).toEqual([code, owner]);
    expect(Number(app.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(app.headers['retry-after'])).toBeLessThanOrEqual(300);
    const health = await gateway.get('/health');
    const spans = [
      { scrape: before, minutes: 1 },
      { scrape: await scrape(gateway), minutes: 10 },
    ];
    const { report } = await examineWith({ ...toEnvironment(bank), ...env });
    const lines = gateway.lines.map((line) => JSON.parse(line) as LogLine);
    const said = { cause, app: [app], health, lines, doctor: report, seconds, spans };
    keep(said, { code, owner, doctor, alert: owner === 'operator' ? 'RejectedByBank' : 'NotReady' });
  };

  it.each(ROWS)('%s', check);

  (hasOpenssl() ? it : it.skip)('client certificate rejected with a TLS alert', () =>
    check('client certificate rejected with a TLS alert', alertingServer, 'certificate-rejected', 'operator'),
  );

  checkAlerts();
});
