import { describe, expect, it } from '@jest/globals';
import { moveBalances } from './move-balances.js';

const json = (amount: string): string => `{"name":"\\"intraDayAmount\\":5,","b":[{"intraDayAmount":${amount},"x":1}]}`;
const amountAt = (amount: string, second: number): string =>
  /\[\{"intraDayAmount":([^,]+)/.exec(moveBalances(json(amount), 1, 0, second))?.[1] ?? '';

describe('moveBalances', () => {
  it('returns the same balances within a second, and different ones later', () => {
    expect(amountAt('10.00', 5)).toBe(amountAt('10.00', 5));
    expect(new Set([0, 1, 2, 3, 4].map((second) => amountAt('10.00', second))).size).toBeGreaterThan(3);
    expect(amountAt('10.00', 0)).toBe('10.00');
  });

  it('keeps the number of decimals, and does not change amounts with an exponent', () => {
    for (let second = 1; second < 50; second++) {
      expect(amountAt('-0.375', second)).toMatch(/^-?\d+\.\d{3}$/);
      expect(amountAt('7', second)).toMatch(/^-?\d+$/);
    }
    expect(amountAt('1.5E3', 9)).toBe('1.5E3');
  });
});
