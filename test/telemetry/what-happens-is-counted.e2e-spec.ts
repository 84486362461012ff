import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { bankForFile } from '../support/bank-for-file.js';
import { createAuthority } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json } from '../support/pretend-bank.js';
import { rawCall, rawRequest } from '../support/raw-call.js';
import { listSample } from '../support/sample-accounts.js';
import { parseMetrics, scrape } from '../support/scrape.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

const DURATION_COUNT = 'http_server_request_duration_seconds_count';
const ACCOUNTS = '/api/v1/accounts';

async function start(env: Record<string, string> = {}, clock?: MovedClock): Promise<Gateway> {
  bank.onToken = issueToken(bank);
  bank.onAccounts = listSample(3);
  return startGateway(bank, env, clock);
}

const labelsOf = (method: string, route: string, status: number) => ({
  http_request_method: method,
  http_route: route,
  http_response_status_code: String(status),
});

describe('requests', () => {
  it('are counted by method, template and status, whatever becomes of them', async () => {
    const gateway = await start({ ALLOWED_HOSTS: 'localhost,127.0.0.1' });
    await gateway.get(ACCOUNTS);
    await gateway.get(`${ACCOUNTS}?pageSize=0`);
    await gateway.get(`${ACCOUNTS}/nobody`);
    await gateway.get('/nothing/DE89370400440532013000');
    await gateway.get('/health/live');
    await gateway.get(ACCOUNTS, { host: 'evil.example' });
    await gateway.get(ACCOUNTS, { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' });
    for (const text of [
      rawRequest(`HEAD ${ACCOUNTS} HTTP/1.1`),
      rawRequest(`POST ${ACCOUNTS} HTTP/1.1`),
      rawRequest(`PROPFIND ${ACCOUNTS} HTTP/1.1`),
      'CONNECT bank.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'no http\r\n\r\n',
      rawRequest('GET / HTTP/1.1', [`X-Long: ${'x'.repeat(20_000)}`]),
      rawRequest(`GET ${ACCOUNTS}/%zz HTTP/1.1`),
    ]) {
      await rawCall(gateway.port, text);
    }
    const seen = await scrape(gateway);
    const count = (method: string, route: string, status: number) =>
      seen.value(DURATION_COUNT, labelsOf(method, route, status));
    expect({
      good: count('GET', ACCOUNTS, 200),
      invalid: count('GET', ACCOUNTS, 400),
      nobody: count('GET', `${ACCOUNTS}/:accountId`, 404),
      unmatched: count('GET', 'unmatched', 404),
      live: count('GET', '/health/live', 200),
      host: count('GET', ACCOUNTS, 421),
      site: count('GET', ACCOUNTS, 403),
      head: count('HEAD', ACCOUNTS, 200),
      post: count('POST', ACCOUNTS, 405),
      propfind: count('_OTHER', ACCOUNTS, 405),
      connect: count('CONNECT', 'unmatched', 405),
      noHttp: count('_OTHER', 'unmatched', 400),
      tooLarge: count('_OTHER', 'unmatched', 431),
      unreadable: seen.value(DURATION_COUNT, { http_response_status_code: '400', http_request_method: 'GET' }),
    }).toEqual({
      good: 1,
      invalid: 1,
      nobody: 1,
      unmatched: 1,
      live: 1,
      host: 1,
      site: 1,
      head: 1,
      post: 1,
      propfind: 1,
      connect: 1,
      noHttp: 1,
      tooLarge: 1,
      unreadable: 2,
    });
    const problem = (code: string, owner = 'caller') => seen.value('accounts_gateway_problems_total', { code, owner });
    expect(problem('method-not-allowed')).toBe(3);
    expect(problem('host-not-allowed')).toBe(1);
    expect(problem('request-too-large')).toBe(1);
    expect(problem('account-not-found')).toBe(1);
    expect(problem('internal-error', 'operator')).toBe(0);
    // each has been counted once: as many as there are lines, but for the scrape
    expect(seen.value(DURATION_COUNT)).toBe(gateway.events('request').length - 1);
    expect(seen.value('accounts_gateway_client_requests_total')).toBe(gateway.events('request').length - 1);
  });

  it('of callers who leave are counted as 499', async () => {
    const gateway = await start();
    bank.onAccounts = () => undefined;
    const socket = connect(gateway.port, '127.0.0.1', () => socket.write(rawRequest(`GET ${ACCOUNTS} HTTP/1.1`)));
    await until(() => bank.requests.some(({ path }) => path.startsWith(ACCOUNTS)));
    expect((await scrape(gateway)).value('accounts_gateway_pending_requests')).toBe(1);
    expect((await scrape(gateway)).value('accounts_gateway_connections')).toBeGreaterThanOrEqual(2);
    socket.destroy();
    await until(() => gateway.events('request').some(({ status }) => status === 499));
    const seen = await scrape(gateway);
    expect(seen.value(DURATION_COUNT, labelsOf('GET', ACCOUNTS, 499))).toBe(1);
    // nobody got an answer, so it was none with a problem
    expect(seen.value('accounts_gateway_problems_total')).toBe(0);
    expect(seen.value('accounts_gateway_pending_requests')).toBe(0);
  });

  it('say by X-Client-Name who asks, as far as that is the name of a program', async () => {
    const gateway = await start();
    const names = ['cash-report', 'cash-report', 'DE89370400440532013000', 'a b', 'x'.repeat(41), 'r2d2.v1_0', ''];
    for (const name of names) await gateway.get('/health/live', { 'x-client-name': name });
    for (let index = 0; index < 60; index += 1) {
      const letters = String.fromCodePoint(97 + (index % 26), 97 + Math.floor(index / 26));
      await gateway.get('/health/live', { 'x-client-name': `app-${letters}` });
    }
    const seen = await scrape(gateway);
    const requests = (client: string) => seen.value('accounts_gateway_client_requests_total', { client_name: client });
    expect(requests('cash-report')).toBe(2);
    expect(requests('r2d2.v1_0')).toBe(1);
    expect(requests('none')).toBe(1);
    expect(requests('other')).toBe(3 + 12);
    const labels = seen.samples.filter(({ name }) => name === 'accounts_gateway_client_requests_total');
    expect(labels).toHaveLength(50 + 2);
    expect(seen.text).not.toContain('DE8937');
  });
});

describe('answers of the API', () => {
  it('are counted by how they came, and whole or not modified', async () => {
    const clock = new MovedClock();
    const gateway = await start({ SNAPSHOT_SOFT_TIMEOUT_MS: '50' }, clock);
    const { headers } = await gateway.get(ACCOUNTS);
    await gateway.get(ACCOUNTS);
    await gateway.get(`${ACCOUNTS}?format=csv`);
    await gateway.get(ACCOUNTS, { 'if-none-match': String(headers['etag']) });
    clock.advance(2000);
    await gateway.get(ACCOUNTS, { 'cache-control': 'no-cache' });
    clock.advance(20_000);
    bank.onAccounts = (_request, response) => json(response, 500, {});
    await gateway.get(ACCOUNTS);
    const seen = await scrape(gateway);
    const count = (cache: string, representation: string) =>
      seen.value('accounts_gateway_responses_total', { cache, representation });
    expect({
      miss: count('miss', 'full'),
      hit: count('hit', 'full'),
      unchanged: count('hit', 'not-modified'),
      asked: count('request', 'full'),
      stale: count('stale', 'full'),
      none: count('stale', 'not-modified'),
    }).toEqual({ miss: 1, hit: 2, unchanged: 1, asked: 1, stale: 1, none: 0 });
    expect(seen.value('accounts_gateway_snapshot_stale')).toBe(1);
    expect(seen.value('accounts_gateway_snapshot_age_seconds')).toBeGreaterThan(19);
    expect(seen.value('accounts_gateway_status', { status: 'degraded' })).toBe(1);
    expect(seen.value('accounts_gateway_status')).toBe(1);
    expect(seen.value('accounts_gateway_ready')).toBe(1);
  });
});

describe('the bank', () => {
  it('that answers: calls, tokens, readings, ends of token and certificates', async () => {
    const gateway = await start();
    const asked = bank.requests.length;
    const before = await scrape(gateway);
    expect(before.value('accounts_gateway_refreshes_total', { outcome: 'ok' })).toBe(0);
    for (const absent of ['snapshot_age_seconds', 'snapshot_accounts', 'snapshot_stale', 'snapshot_complete'])
      expect(before.value(`accounts_gateway_${absent}`)).toBeNull();
    expect(before.value('accounts_gateway_token_expiry_timestamp_seconds')).toBeNull();
    expect(before.value('accounts_gateway_bank_last_success_timestamp_seconds')).toBeNull();
    expect(before.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use: 'bank' })).toBeNull();
    expect(before.value('accounts_gateway_ready')).toBe(0);
    expect(bank.requests).toHaveLength(asked);

    await gateway.get(ACCOUNTS);
    const seen = await scrape(gateway);
    const calls = (target: string) =>
      seen.value('http_client_request_duration_seconds_count', { target, error_type: '' });
    expect([calls('token'), calls('accounts')]).toEqual([1, 1]);
    expect(seen.value('accounts_gateway_token_requests_total', { outcome: 'ok' })).toBe(1);
    expect(seen.value('accounts_gateway_refreshes_total', { outcome: 'ok' })).toBe(1);
    expect(seen.value('accounts_gateway_refresh_duration_seconds_count')).toBe(1);
    expect(seen.value('accounts_gateway_snapshot_accounts')).toBe(3);
    expect(seen.value('accounts_gateway_snapshot_complete')).toBe(1);
    expect(seen.value('accounts_gateway_bank_circuit', { state: 'closed' })).toBe(1);
    const now = Date.now() / 1000;
    expect((seen.value('accounts_gateway_token_expiry_timestamp_seconds') ?? 0) - now).toBeGreaterThan(290);
    expect(now - (seen.value('accounts_gateway_bank_last_success_timestamp_seconds') ?? 0)).toBeLessThan(30);
    const { notAfter } = (await gateway.get('/health')).json.details.certificate;
    const ends = (use: string) => seen.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use });
    expect(ends('client')).toBe(Date.parse(notAfter as string) / 1000);
    expect(ends('bank')).toBeGreaterThan(now + 86_400);
    expect(ends('listener')).toBeNull();
    expect(seen.value('accounts_gateway_certificate_refused', { use: 'client' })).toBe(0);
    expect(seen.value('accounts_gateway_mode', { mode: 'live', route: 'direct' })).toBe(1);
  });

  it.each([
    ['refuses the password', 'credentials-rejected', 'token', 'token_requests', 'operator'],
    ['fails', 'bank-error', 'accounts', 'refreshes', 'bank'],
    ['grants nothing', 'access-not-granted', 'accounts', 'refreshes', 'bank'],
  ] as const)('that %s: %s', async (_what, code, target, counter, owner) => {
    const gateway = await start();
    if (target === 'token') bank.onToken = (_request, response) => json(response, 401, {});
    else
      bank.onAccounts = (_request, response) => json(response, code === 'access-not-granted' ? 404 : 500, { error: 1 });
    await gateway.get(ACCOUNTS);
    const seen = await scrape(gateway);
    expect(seen.value(`accounts_gateway_${counter}_total`, { outcome: code })).toBe(1);
    expect(seen.value('accounts_gateway_refreshes_total', { outcome: code })).toBe(1);
    expect(seen.value('accounts_gateway_problems_total', { code, owner })).toBe(1);
    expect(seen.value('accounts_gateway_bank_circuit', { state: 'open' })).toBe(1);
    expect(seen.value('accounts_gateway_status', { status: 'error' })).toBe(1);
    expect(seen.value('http_client_request_duration_seconds_count', { target, error_type: code })).toBe(1);
  });

  it('and the certificates: of this API too, and new ones that are not taken', async () => {
    const directory = temporaryDirectory();
    const { key, cert } = createAuthority('an authority').server(['localhost']);
    const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    writeFileSync(keyFile, key);
    writeFileSync(certFile, cert);
    const gateway = await start({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
    const read = async () => {
      const { body } = await gateway.app.inject({ url: '/metrics', headers: { host: 'localhost' } });
      return parseMetrics(body);
    };
    const before = await read();
    const ends = Date.parse(new X509Certificate(cert).validTo) / 1000;
    expect(before.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use: 'listener' })).toBe(ends);
    expect(before.value('accounts_gateway_certificate_refused')).toBe(0);
    writeFileSync(certFile, 'no certificate');
    gateway.app.get(AppModule).reload();
    const after = await read();
    expect(after.value('accounts_gateway_certificate_refused', { use: 'listener' })).toBe(1);
    expect(after.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use: 'listener' })).toBe(ends);
  });

  it('whose certificate is not trusted', async () => {
    const gateway = await startGateway({
      ...bank,
      files: { ...bank.files, ca: createAuthority('another').file },
    });
    await gateway.get(ACCOUNTS);
    const seen = await scrape(gateway);
    expect(seen.value('accounts_gateway_certificate_refused', { use: 'bank' })).toBe(1);
    expect(seen.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use: 'bank' })).toBeNull();
    expect(
      seen.value('http_client_request_duration_seconds_count', { target: 'token', error_type: 'bank-untrusted' }),
    ).toBe(1);
  });
});
