import { expect, test } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { askingLate, ASKS_LATE } from '../support/late-certificate.js';
import { issueToken, startPretendBank } from '../support/pretend-bank.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { listSample } from '../support/sample-accounts.js';

async function startLateBank() {
  const bank = await startPretendBank({ server: ASKS_LATE });
  bank.onToken = askingLate(issueToken(bank));
  bank.onAccounts = askingLate(listSample());
  return bank;
}

test.each(['direct', 'proxy'])('%s: with BANK_TLS_MAX_VERSION=1.2 the bank gets the certificate', async (route) => {
  const bank = await startLateBank();
  const env = route === 'proxy' ? { EGRESS_PROXY_URL: (await startConnectProxy()).url.href } : {};
  const gateway = await startGateway(bank, { BANK_TLS_MAX_VERSION: '1.2', ...env });
  expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
});

test('its twin: over TLS 1.3, which is the default, the bank does not', async () => {
  const gateway = await startGateway(await startLateBank());
  expect((await gateway.get('/api/v1/accounts')).json).toMatchObject({ status: 502, code: 'address-not-allowed' });
});
