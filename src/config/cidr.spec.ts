import { describe, expect, it } from '@jest/globals';
import { isWithin, toNetworks } from './cidr.js';

describe('an allowed client', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '::1'],
    ['loopback', '::ffff:127.0.0.1'],
    ['private', '127.0.0.1'],
    ['private', '10.255.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['private', 'fe80::1%eth0'],
    ['any', '203.0.113.9'],
    ['any', '2001:db8::1'],
    ['10.1.0.0/16', '10.1.255.255'],
    ['10.1.0.0/16', '::ffff:10.1.2.3'],
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::/32', '2001:db8:ffff::1'],
    ['2001:db8::1', '2001:0db8:0:0:0:0:0:1'],
    ['192.0.2.0/24,loopback', '127.0.0.1'],
    ['::ffff:192.0.2.0/120', '192.0.2.77'],
  ])('of ALLOWED_CLIENTS=%s may call from %s', (list, address) => {
    expect(isWithin(toNetworks(list.split(',')), address)).toBe(true);
  });
});

describe('a client that is not allowed', () => {
  it.each([
    ['loopback', '10.0.0.1'],
    ['loopback', '::ffff:10.0.0.1'],
    ['private', '172.32.0.1'],
    ['private', '2001:db8::1'],
    ['10.1.0.0/16', '10.2.0.1'],
    ['192.0.2.7', '192.0.2.8'],
    ['2001:db8::/32', '2001:db9::1'],
    ['0.0.0.0/0', '2001:db8::1'],
    ['::/0', '127.0.0.1'],
    ['::ffff:192.0.2.0/120', '192.0.3.1'],
    ['any', ''],
    ['any', '10.1'],
    ['any', 'localhost'],
    ['', '127.0.0.1'],
  ])('of ALLOWED_CLIENTS=%s may not call from %j', (list, address) => {
    expect(isWithin(toNetworks(list.split(',').filter(Boolean)), address)).toBe(false);
  });
});
