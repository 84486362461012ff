import { describe, expect, it } from '@jest/globals';
import { Allowlist, toPlainAddress } from './allowlist.js';

describe('the allowlist', () => {
  const list = new Allowlist(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8']);

  it.each(['127.0.0.1', '10.255.0.1', '::1', 'fd12::3', '::ffff:10.1.2.3', '::FFFF:127.0.0.1'])(
    'admits %s',
    (address) => expect(list.admits(address)).toBe(true),
  );

  it.each(['127.0.0.2', '11.0.0.1', '::2', 'fe80::1', '::ffff:11.0.0.1', '', 'nonsense'])('refuses %s', (address) =>
    expect(list.admits(address)).toBe(false),
  );

  it('admits nobody when empty, everybody of a family with /0', () => {
    expect(new Allowlist([]).admits('127.0.0.1')).toBe(false);
    expect(new Allowlist(['0.0.0.0/0']).admits('203.0.113.9')).toBe(true);
    expect(new Allowlist(['0.0.0.0/0']).admits('2001:db8::1')).toBe(false);
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0',
    'localhost',
    '',
    '::1/129',
    'fe80::1%eth0',
  ])('refuses the entry "%s"', (entry) => {
    expect(() => new Allowlist([entry])).toThrow(entry);
  });

  it('unfolds mapped addresses only', () => {
    expect(toPlainAddress('::ffff:127.0.0.1')).toBe('127.0.0.1');
    expect(toPlainAddress('::1')).toBe('::1');
  });
});
