import { expect, test } from '@jest/globals';
import { describeRoute } from '../../src/egress/route.js';
import { readSettings } from '../../src/config/read-settings.js';
import { bankForFile } from '../support/bank-for-file.js';
import { startGateway, toEnvironment } from '../support/gateway.js';
import { startConnectProxy, withCredentials } from '../support/connect-proxy.js';

const bank = await bankForFile();

const PROXY = 'http://user:secret@proxy.example:3128';

test.each([
  [{}, 'direct'],
  [{ EGRESS_LOCAL_ADDRESS: '127.0.0.2' }, 'direct from 127.0.0.2'],
  [{ EGRESS_PROXY_URL: PROXY }, 'proxy http://proxy.example:3128'],
  [{ EGRESS_PROXY_URL: PROXY, EGRESS_LOCAL_ADDRESS: '127.0.0.2' }, 'proxy http://proxy.example:3128 from 127.0.0.2'],
  [{ EGRESS_PROXY_URL: 'https://user:secret@[::1]:8443' }, 'proxy https://[::1]:8443'],
  [{ HTTPS_PROXY: PROXY }, 'proxy http://proxy.example:3128'],
  [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other.example' }, 'proxy http://proxy.example:3128'],
  [{ HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, 'direct'],
  [{ HTTPS_PROXY: PROXY, EGRESS_PROXY_URL: 'direct' }, 'direct'],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '127.0.0.1' }, 'direct'],
  [{ EGRESS_PROXY_URL: PROXY, no_proxy: '127.0.0.0/8' }, 'direct'],
  [{ EGRESS_PROXY_URL: PROXY, NO_PROXY: '*', EGRESS_NO_PROXY: 'elsewhere.example' }, 'proxy http://proxy.example:3128'],
])('%j is told as %s', (env, route) => {
  const { settings } = readSettings({ ...toEnvironment(bank), ...env }, { sandbox: false });
  expect(describeRoute(settings, bank.url)).toBe(route);
});

test('health shows the route that calls take, and neither it nor a log line shows credentials', async () => {
  const refusing = await startConnectProxy({
    onConnect: ({ socket }) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  });
  const proxy = withCredentials(refusing.url, 'robot', 'secret:p@ss%');
  const gateway = await startGateway(bank, { EGRESS_PROXY_URL: proxy.href });
  const answer = await gateway.get('/api/v1/accounts');
  expect(answer.json).toMatchObject({ code: 'proxy-refused', status: 502, owner: 'network' });
  const health = await gateway.get('/health');
  expect(health.json.details.egress.route).toBe(`proxy ${refusing.url.origin}`);
  const told = gateway.lines.join('') + answer.text + health.text;
  const basic = Buffer.from('robot:secret:p@ss%').toString('base64');
  for (const secret of ['robot', 'p@ss', 'p%40ss', basic]) expect(told).not.toContain(secret);
});
