import { describe, expect, it, jest } from '@jest/globals';
import { formatAmount } from '../src/index.js';

describe('formatAmount', () => {
  it.each([
    ['49576.120', 'KWD', 'en', 'KWD 49,576.120'],
    ['19435.5', 'EUR', 'en', '€19,435.5'],
    ['-0.01', 'EUR', 'de', '-0,01 €'],
    ['-0', 'EUR', 'en', '-€0'],
    ['-00.50', 'EUR', 'en', '-€0.50'],
    ['007.10', 'EUR', 'en', '€7.10'],
    ['1234567', 'JPY', 'en', '¥1,234,567'],
    ['12345678901234567890.12', 'USD', 'en', '$12,345,678,901,234,567,890.12'],
    ['1.23', 'EUR', 'ar-EG', '١٫٢٣ €'],
    ['1234567.89', 'INR', 'en-IN', '₹12,34,567.89'],
    // codes that no platform knows, some with three letters
    ['12.50', 'USDC', 'en', '12.50 USDC'],
    ['12.50', 'XQZ', 'en', '12.50 XQZ'],
    ['1.10', null, 'fr', '1,10'],
  ])('%s %s in %s is %s', (amount, currency, locale, text) => {
    // locales use several kinds of spaces
    expect(
      formatAmount(amount, currency, locale)
        .replaceAll(/\s|\u200f/g, ' ')
        .trim(),
    ).toBe(text);
  });

  it('keeps 400 digits before and after the point', () => {
    const text = formatAmount(`${'9'.repeat(400)}.${'7'.repeat(400)}`, 'EUR', 'en');
    expect(text.replaceAll(/[€,]/g, '')).toBe(`${'9'.repeat(400)}.${'7'.repeat(400)}`);
  });

  it('shows a missing amount as a dash, and leaves other text unchanged', () => {
    const none: { current: string | null }[] = [];
    expect([formatAmount(null, 'EUR', 'en'), formatAmount(none[0]?.current, 'EUR', 'en')]).toEqual(['–', '–']);
    expect(formatAmount('1e5', 'EUR', 'en')).toBe('1e5');
  });

  it('creates a format once for a page of amounts, and keeps at most 100', () => {
    const created = jest.spyOn(Intl, 'NumberFormat');
    for (let amount = 0; amount < 1000; amount += 1) formatAmount(`${amount}.50`, 'CHF', 'de-CH');
    // that of the amounts, and that of their digits
    expect(created).toHaveBeenCalledTimes(2);
    for (let user = 0; user < 200; user += 1) formatAmount('1', 'CHF', `de-x-user${user}`);
    formatAmount('1.50', 'CHF', 'de-CH');
    expect(created).toHaveBeenCalledTimes(204);
    created.mockRestore();
  });
});
