import { expect, test } from '@jest/globals';
import { matchesNoProxy } from './route.js';

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
])('NO_PROXY=%s and %s: %s', (list, host, direct) => {
  expect(matchesNoProxy(list, host, 443)).toBe(direct);
});
