import { describe, expect, it } from '@jest/globals';
import { toEncoding } from './compression.js';

describe('the encoding for Accept-Encoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, br;q=0.5', 'gzip'],
    ['gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['identity, gzip;q=0.5', 'identity'],
    ['zstd', 'identity'],
    ['nonsense;;;', 'identity'],
    [`br,${'a,'.repeat(8000)}`, 'br'],
    [`${'a,'.repeat(8000)}br`, 'identity'],
  ])('%j is %s', (header, encoding) => {
    expect(toEncoding(header)).toBe(encoding);
  });
});
