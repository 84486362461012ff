import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { rawCall, rawRequest } from '../support/raw-call.js';
import { listSample, PLANTED, sampleId } from '../support/sample-accounts.js';
import { parseMetrics } from '../support/scrape.js';

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
});

const REQUEST_ID = 'planted-request-id';
const TEMPLATES = new Set(['/api/v1/accounts', '/api/v1/accounts/:accountId', '/health', '/metrics', 'unmatched']);
const OPEN_METRICS = { accept: 'application/openmetrics-text' };

describe('no label, point or event', () => {
  it('holds what callers or the bank sent: secrets, IBANs, ids, amounts, addresses', async () => {
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
    // a bank at fault that quotes everything
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

    const [text, open, recent] = [
      await gateway.get('/metrics'),
      await gateway.get('/metrics', OPEN_METRICS),
      await gateway.get('/health/recent'),
    ];
    expect(recent.json.events.length).toBeGreaterThan(3);
    const secrets = [...secretsOf(bank), ...planted, bank.files.username, bank.files.ca, bank.directory];
    for (const answer of [text, open, recent]) expectNoSecret(answer.text, secrets);
    // no address of a caller either; that of the bank is server_address
    const { samples } = parseMetrics(text.text);
    expect(
      samples.filter(({ labels: { server_address: _bank, ...labels } }) =>
        Object.values(labels).some((value) => /127\.0\.0\.1|::/.test(value)),
      ),
    ).toEqual([]);
    // each route is a template
    const routes = samples.map(({ labels }) => labels['http_route']).filter((route) => route !== undefined);
    expect(new Set(routes).size).toBeGreaterThan(3);
    expect(routes.filter((route) => !TEMPLATES.has(route))).toEqual([]);
  });
});
