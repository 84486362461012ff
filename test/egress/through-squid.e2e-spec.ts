import { beforeAll, describe, expect, test } from '@jest/globals';
import { startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { startGateway } from '../support/gateway.js';
import { withCredentials } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { closedPort } from '../support/servers.js';
import { type Squid, startSquid } from '../support/squid.js';
import { hasSquid } from '../support/tools.js';
import { until } from '../support/until.js';

const USER = 'gateway';
const PASSWORD = 'se@cr:t%100/ pä$$';

(hasSquid() ? describe : describe.skip)('through the real squid', () => {
  let bank: PretendBank;
  let squid: Squid;
  let refusing: number;
  beforeAll(async () => {
    bank = await startPretendBank();
    refusing = await closedPort();
    squid = await startSquid(USER, PASSWORD, [Number(new URL(bank.url).port), refusing]);
  });

  test('the whole gateway: token and accounts over one tunnel, and no credentials anywhere', async () => {
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
    const told = gateway.lines.join('') + health.text;
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), `${USER}:`]) expect(told).not.toContain(secret);
  });

  test('tunnels are reused', async () => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(squid.url, USER, PASSWORD) });
    await Promise.all(Array.from({ length: 50 }, () => egress.get(accountsAt(bank.url))));
    expect(bank.sockets.size).toBeLessThanOrEqual(6);
    egress.retire();
    await until(() => bank.sockets.size === 0);
  });

  test.each([
    ['a wrong password', (url: URL) => withCredentials(url, USER, 'secret-wrong'), 407],
    ['no password', (url: URL) => url, 407],
  ])('%s: proxy-refused', async (_name, proxyOf, status) => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: proxyOf(squid.url) });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
      code: 'proxy-refused',
      detail: expect.stringContaining(`it answered ${status}`),
    });
  });

  test.each([
    ['a port it does not allow', 'https://127.0.0.1:1', '403'],
    ['a bank whose port is closed', null, '50'],
    ['a bank without DNS', 'https://no-such-bank.invalid:PORT', '50'],
  ])('%s: proxy-refused', async (_name, url, status) => {
    const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: withCredentials(squid.url, USER, PASSWORD) });
    const target = accountsAt((url ?? 'https://127.0.0.1:PORT').replace('PORT', String(refusing)));
    expect(await failureOf(egress.get(target))).toMatchObject({
      code: 'proxy-refused',
      detail: expect.stringContaining(`it answered ${status}`),
    });
  });
});
