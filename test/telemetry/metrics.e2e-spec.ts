import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { createAuthority } from '../support/authority.js';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { LONGEST_WAIT_MS, MovedClock } from '../support/moved-clock.js';
import { json, type PretendBank } from '../support/pretend-bank.js';
import { rawCall, rawRequest } from '../support/raw-connection.js';
import { listSample, PLANTED, sampleId } from '../support/sample-accounts.js';
import { parseMetrics, scrape } from '../support/scrape.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('/metrics', () => {
  it('is in the text format 0.0.4, whatever Accept asks for', async () => {
    const gateway = await startGateway(bank);
    await gateway.get('/api/v1/accounts');
    for (const accept of ['*/*', 'application/openmetrics-text;version=1.0.0', 'application/json']) {
      const { status, headers, text } = await gateway.get('/metrics', { accept });
      const type = 'text/plain; version=0.0.4; charset=utf-8';
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, type, 'no-store']);
      expect(text).toContain('# TYPE accounts_gateway_refreshes_total counter\n');
      expect(parseMetrics(text).value('accounts_gateway_refreshes_total', { outcome: 'ok' })).toBe(1);
    }
  });
});

describe('metrics', () => {
  const DURATION_COUNT = 'http_server_request_duration_seconds_count';
  const ACCOUNTS = '/api/v1/accounts';

  const labelsOf = (method: string, route: string, status: number) => ({
    http_request_method: method,
    http_route: route,
    http_response_status_code: String(status),
  });

  describe('requests', () => {
    it('are counted by method, route template and status, whatever their outcome', async () => {
      const gateway = await startGateway(bank, { ALLOWED_HOSTS: 'localhost,127.0.0.1' });
      await gateway.get(ACCOUNTS, { 'x-client-name': 'cash-report' });
      await gateway.get(`${ACCOUNTS}?pageSize=0`, { 'x-client-name': 'DE89370400440532013000' });
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
      const counted = seen.samples
        .filter(({ name }) => name === DURATION_COUNT)
        .map(({ labels, value }) => [...Object.values(labels), value].join(' '));
      expect(counted.toSorted()).toEqual(
        [
          `GET ${ACCOUNTS} 200 1`,
          `GET ${ACCOUNTS} 400 1`,
          `GET ${ACCOUNTS} 403 1`,
          `GET ${ACCOUNTS} 421 1`,
          `GET ${ACCOUNTS}/:accountId 404 1`,
          'GET unmatched 400 1',
          'GET unmatched 404 1',
          'GET /health/live 200 1',
          `HEAD ${ACCOUNTS} 200 1`,
          'POST unmatched 405 1',
          '_OTHER unmatched 405 1',
          'CONNECT unmatched 405 1',
          '_OTHER unmatched 400 1',
          '_OTHER unmatched 431 1',
        ].toSorted(),
      );
      // the log has a line for each of them, even for those that the parser rejects
      expect(gateway.events('request').filter(({ route }) => route !== '/metrics')).toHaveLength(14);
      const problem = (code: string, owner = 'caller') =>
        seen.value('accounts_gateway_problems_total', { code, owner });
      expect(problem('method-not-allowed')).toBe(3);
      expect(problem('host-not-allowed')).toBe(1);
      expect(problem('internal-error', 'operator')).toBe(0);
      const client = (name: string) => seen.value('accounts_gateway_client_requests_total', { client_name: name });
      expect(['cash-report', 'other', 'none'].map(client)).toEqual([1, 1, 12]);
    });

    it('are counted as 499 if their callers disconnect', async () => {
      const gateway = await startGateway(bank);
      bank.onAccounts = () => undefined;
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write(rawRequest(`GET ${ACCOUNTS} HTTP/1.1`)));
      await until(() => bank.requests.some(({ path }) => path.startsWith(ACCOUNTS)));
      expect((await scrape(gateway)).value('accounts_gateway_pending_requests')).toBe(1);
      expect((await scrape(gateway)).value('accounts_gateway_connections')).toBeGreaterThanOrEqual(2);
      socket.destroy();
      await until(() => gateway.events('request').some(({ status }) => status === 499));
      const seen = await scrape(gateway);
      expect(seen.value(DURATION_COUNT, labelsOf('GET', ACCOUNTS, 499))).toBe(1);
      // nobody received a response, so it does not count as a problem
      expect(seen.value('accounts_gateway_problems_total')).toBe(0);
      expect(seen.value('accounts_gateway_pending_requests')).toBe(0);
    });
  });

  describe('responses of the API', () => {
    it('are counted by cache outcome, and as full or not-modified', async () => {
      const clock = new MovedClock();
      clock.stop();
      const gateway = await startGateway(bank, {}, clock);
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
      expect(seen.value('accounts_gateway_snapshot_age_seconds')).toBe(20);
      expect(seen.value('accounts_gateway_status', { status: 'degraded' })).toBe(1);
      expect(seen.value('accounts_gateway_status')).toBe(1);
      expect(seen.value('accounts_gateway_ready')).toBe(1);
    });
  });

  describe('the bank', () => {
    it('has metrics of calls, tokens, refreshes, and the expiry of token and certificates', async () => {
      const gateway = await startGateway(bank);
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

      const began = Math.floor(Date.now() / 1000);
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
      const isBetween = (name: string, from: number, to: number) => {
        expect(seen.value(name)).toBeGreaterThanOrEqual(from);
        expect(seen.value(name)).toBeLessThanOrEqual(to);
      };
      isBetween('accounts_gateway_token_expiry_timestamp_seconds', began + 290, now + 300);
      isBetween('accounts_gateway_bank_last_success_timestamp_seconds', began, now);
      const { notAfter } = (await gateway.get('/health')).json.details.certificate;
      const ends = (use: string) => seen.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use });
      expect(ends('client')).toBe(Date.parse(notAfter as string) / 1000);
      expect(ends('bank')).toBeGreaterThan(now + 86_400);
      expect(ends('listener')).toBeNull();
      expect(seen.value('accounts_gateway_certificate_refused', { use: 'client' })).toBe(0);
      expect(seen.value('accounts_gateway_mode', { mode: 'live', route: 'direct' })).toBe(1);
    });

    it('is counted by code if it rejects the password, fails, or grants nothing', async () => {
      const clock = new MovedClock();
      const gateway = await startGateway(bank, {}, clock);
      for (const [status, code, target, counter, owner] of [
        [401, 'credentials-rejected', 'token', 'token_requests', 'operator'],
        [500, 'bank-error', 'accounts', 'refreshes', 'bank'],
        [404, 'access-not-granted', 'accounts', 'refreshes', 'bank'],
      ] as const) {
        // a first page that is rejected is requested once more, with the documented size
        const calls = status === 404 ? 2 : 1;
        repair(bank);
        bank[target === 'token' ? 'onToken' : 'onAccounts'] = (_request, response) => json(response, status, {});
        clock.advance(LONGEST_WAIT_MS);
        await gateway.get(ACCOUNTS);
        const seen = await scrape(gateway);
        expect(seen.value(`accounts_gateway_${counter}_total`, { outcome: code })).toBe(1);
        expect(seen.value('accounts_gateway_refreshes_total', { outcome: code })).toBe(1);
        expect(seen.value('accounts_gateway_problems_total', { code, owner })).toBe(1);
        expect(seen.value('accounts_gateway_bank_circuit', { state: 'open' })).toBe(1);
        expect(seen.value('accounts_gateway_status', { status: 'error' })).toBe(1);
        expect(seen.value('http_client_request_duration_seconds_count', { target, error_type: code })).toBe(calls);
      }
    });

    it('and the listener have metrics of their certificates, also of rejected ones', async () => {
      const directory = temporaryDirectory();
      const { key, cert } = createAuthority('an authority').server(['localhost']);
      const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
      writeFileSync(keyFile, key);
      writeFileSync(certFile, cert);
      const gateway = await startGateway(bank, { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
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
      await until(async () => (await read()).value('accounts_gateway_certificate_refused', { use: 'listener' }) === 1);
      const after = await read();
      expect(after.value('accounts_gateway_certificate_expiry_timestamp_seconds', { use: 'listener' })).toBe(ends);
    });

    it('has a metric for its certificate that is not trusted', async () => {
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
});

describe('no data in labels', () => {
  const REQUEST_ID = 'planted-request-id';
  const TEMPLATES = new Set(['/api/v1/accounts', '/api/v1/accounts/:accountId', '/health', '/metrics', 'unmatched']);

  it('no label, point or event contains anything sent by callers or the bank: secrets, IBANs, ids, amounts, addresses', async () => {
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_SOFT_TIMEOUT_MS: '50' }, clock);
    bank.onAccounts = listSample(3);
    const planted = [PLANTED.iban, sampleId(1), REQUEST_ID, 'planted-agent', 'ownedByCompanyX9'];
    const paths = [
      '/api/v1/accounts',
      `/api/v1/accounts/${sampleId(1)}`,
      `/api/v1/accounts/${PLANTED.iban}`,
      `/api/v1/accounts?iban=${PLANTED.iban}`,
      `/api/v1/accounts?q=${PLANTED.text}&x=${PLANTED.current}`,
      `/${PLANTED.iban}/${sampleId(1)}`,
      `/api/v1/${PLANTED.iban}`,
      '/health',
    ];
    for (const path of paths) {
      await gateway.get(path, {
        'x-client-name': PLANTED.iban,
        'x-request-id': REQUEST_ID,
        'user-agent': 'planted-agent',
      });
      await gateway.get(path, { 'x-client-name': bank.files.ca, origin: `http://${PLANTED.text}.example` });
      await rawCall(gateway.port, rawRequest(`DELETE ${path} HTTP/1.1`));
    }
    await rawCall(gateway.port, `${PLANTED.iban} ${PLANTED.text}\r\n\r\n`);
    // a failing bank whose responses quote everything
    const quote: PretendBank['onToken'] = (request, response) =>
      json(response, 500, { ...PLANTED, ownedByCompanyX9: request.headers.authorization });
    for (const status of [500, 200]) {
      bank.onAccounts = (request, response, url) =>
        status === 500 ? quote(request, response, url) : json(response, 200, { [PLANTED.iban]: [PLANTED.iban] });
      clock.advance(40_000);
      await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' });
    }
    bank.onToken = quote;
    clock.advance(400_000);
    await gateway.get('/api/v1/accounts');

    const [text, recent] = [await gateway.get('/metrics'), await gateway.get('/health/recent')];
    expect(recent.json.events.length).toBeGreaterThan(3);
    const secrets = [...secretsOf(bank), ...planted, bank.files.username, bank.files.ca, bank.directory];
    for (const answer of [text, recent]) expectNoSecret(answer.text, secrets);
    // no caller's address; server_address is the bank's
    const { samples } = parseMetrics(text.text);
    expect(
      samples.filter(({ labels: { server_address: _bank, ...labels } }) =>
        Object.values(labels).some((value) => /127\.0\.0\.1|::/.test(value)),
      ),
    ).toEqual([]);
    // each route label is a template
    const routes = samples.map(({ labels }) => labels['http_route']).filter((route) => route !== undefined);
    expect(new Set(routes).size).toBeGreaterThan(3);
    expect(routes.filter((route) => !TEMPLATES.has(route))).toEqual([]);
  });
});
