import { describe, expect, it } from '@jest/globals';
import { createAllowlist, isAllowlistEntry, toPlainAddress } from './allowlist.js';

describe('the allowlist', () => {
  const list = createAllowlist(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '::ffff:192.0.2.0/120']);

  it.each(['127.0.0.1', '10.255.0.1', '::1', 'fd12::3', '::ffff:10.1.2.3', '::FFFF:127.0.0.1', '192.0.2.77'])(
    'admits %s',
    (address) => expect(list.admits(address)).toBe(true),
  );

  it.each(['127.0.0.2', '11.0.0.1', '::2', 'fe80::1', '::ffff:11.0.0.1', '192.0.3.1', '', 'nonsense'])(
    'refuses %s',
    (address) => expect(list.admits(address)).toBe(false),
  );

  it('admits nobody when empty, everybody of a family with /0', () => {
    expect(createAllowlist([]).admits('127.0.0.1')).toBe(false);
    expect(createAllowlist(['0.0.0.0/0']).admits('203.0.113.9')).toBe(true);
    expect(createAllowlist(['0.0.0.0/0']).admits('2001:db8::1')).toBe(false);
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
  ])('knows that "%s" is no entry', (entry) => {
    expect(isAllowlistEntry(entry)).toBe(false);
    expect(() => createAllowlist([entry])).toThrow(entry);
  });

  it('unfolds mapped addresses only', () => {
    expect(toPlainAddress('::ffff:127.0.0.1')).toBe('127.0.0.1');
    expect(toPlainAddress('::1')).toBe('::1');
  });
});
