import { describe, expect, it } from '@jest/globals';
import { Digits, toDecimalText } from './digits.js';

describe('Digits', () => {
  it('are written as they are', () => {
    for (const text of ['19435.50', '12345678901234567.89', '1.5E3', '-0.01', '0']) {
      expect(JSON.stringify([new Digits(text)])).toBe(`[${text}]`);
    }
  });

  it('can be nothing but a number', () => {
    for (const text of ['', 'x', '1,5', '{}']) expect(() => JSON.stringify(new Digits(text))).toThrow();
  });
});

describe('toDecimalText', () => {
  it.each([
    [-1n, 2, '-0.01'],
    [0n, 2, '0.00'],
    [1943550n, 2, '19435.50'],
    [-375n, 3, '-0.375'],
    [-42n, 0, '-42'],
  ])('writes %d with %d decimals', (minor, decimals, text) => expect(toDecimalText(minor, decimals)).toBe(text));
});
