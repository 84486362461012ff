import { expect, test } from '@jest/globals';
import { readSettings } from '../config/read-settings.js';
import { describeRoute, matchesNoProxy } from './route.js';

test.each([
  ['', 'bank.example', false],
  ['*', 'bank.example', true],
  ['bank.example', 'bank.example', true],
  ['BANK.example', 'bank.EXAMPLE', true],
  ['bank.example', 'api.bank.example', true],
  ['bank.example', 'otherbank.example', false],
  ['.bank.example', 'api.bank.example', true],
  ['.bank.example', 'bank.example', true],
  ['*.bank.example', 'api.bank.example', true],
  ['bank.example', 'bank.example.', true],
  ['bank.example.', 'bank.example', true],
  ['bank.example:443', 'bank.example', true],
  ['bank.example:8443', 'bank.example', false],
  ['a.example, bank.example', 'bank.example', true],
  ['a.example bank.example', 'bank.example', true],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.0/33', '10.0.0.1', false],
  ['10.0.0.1:8443', '10.0.0.1', false],
  ['10.0.0.1:443', '10.0.0.1', true],
  ['10', '10.0.0.1', false],
  ['0.0.1', '10.0.0.1', false],
  ['::1', '[::1]', true],
  ['[::1]', '[::1]', true],
  ['[::1]:443', '[::1]', true],
  ['[::1]:8443', '[::1]', false],
  ['2001:db8::/32', '[2001:db8::5]', true],
  ['2001:DB8:0:0::5', '[2001:db8::5]', true],
  ['/', 'bank.example', false],
  ['.', 'bank.example', false],
  [':443', 'bank.example', false],
])('with NO_PROXY=%s, the bank %s is called directly: %s', (list, host, direct) => {
  expect(matchesNoProxy(list, host, 443)).toBe(direct);
});

const PROXY = 'http://user:secret@proxy.example:3128';

test.each([
  [{}, 'direct'],
  [{ EGRESS_LOCAL_ADDRESS: '127.0.0.2' }, 'direct from 127.0.0.2'],
  [{ EGRESS_PROXY_URL: PROXY, EGRESS_LOCAL_ADDRESS: '127.0.0.2' }, 'proxy http://proxy.example:3128 from 127.0.0.2'],
  [{ EGRESS_PROXY_URL: 'https://user:secret@[::1]:8443' }, 'proxy https://[::1]:8443'],
  [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other.example' }, 'proxy http://proxy.example:3128'],
  [{ HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, 'direct'],
  [{ HTTPS_PROXY: PROXY, EGRESS_PROXY_URL: 'direct' }, 'direct'],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '127.0.0.1' }, 'direct'],
  [{ EGRESS_PROXY_URL: PROXY, no_proxy: '127.0.0.0/8' }, 'direct'],
  [{ EGRESS_PROXY_URL: PROXY, NO_PROXY: '*', EGRESS_NO_PROXY: 'elsewhere' }, 'proxy http://proxy.example:3128'],
])('the route of %j is shown as %s', (env, route) => {
  const bank = { BANK_BASE_URL: 'https://127.0.0.1', BANK_USERNAME: 'u', BANK_PASSWORD: 'p', BANK_PFX_BASE64: 'MII=' };
  const { settings } = readSettings({ ...bank, ...env }, { sandbox: false });
  expect(describeRoute(settings, settings.BANK_BASE_URL)).toBe(route);
});
