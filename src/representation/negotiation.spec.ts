import { describe, expect, it } from '@jest/globals';
import { chooseType, toEncoding } from './negotiation.js';

describe('the media type for Accept', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/csv;q=0.5, application/json;q=0.4', 'text/csv'],
    ['text/csv; charset="a, b"; q=0.9, application/json;version=2;q=0.1', 'text/csv'],
    ['text/csv;charset', 'text/csv'],
    ['text/csv; q=0.5, application/json; q=0.9', 'application/json'],
    ['application/json; q=0.5, text/csv;\tQ=0.9', 'text/csv'],
    ['application/json; version=2; q=0.1, text/csv; q=0.9', 'text/csv'],
    ['application/json; q=0', null],
    ['text/html', null],
    ['application/json;q=0, */*', 'text/csv'],
    // a very long header counts as missing
    [`${'a/b,'.repeat(249)}text/csv`, 'application/json'],
    [`${'a/b,'.repeat(248)}text/csv`, 'text/csv'],
    ['a'.repeat(1000), null],
  ])('%.60s is %s', (accept, type) => {
    expect(chooseType(['application/json', 'text/csv'], accept)).toBe(type);
  });
});

describe('the encoding for Accept-Encoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, br;q=0.5', 'gzip'],
    ['gzip', 'gzip'],
    [' GZIP ,Br', 'br'],
    ['gzip deflate', 'identity'],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['identity, gzip;q=0.5', 'identity'],
    ['zstd', 'identity'],
    ['nonsense;;;', 'identity'],
    [`br,${'a,'.repeat(400)}`, 'br'],
    [`br,${'a,'.repeat(500)}`, 'identity'],
  ])('%j is %s', (header, encoding) => {
    expect(toEncoding(header)).toBe(encoding);
  });
});
