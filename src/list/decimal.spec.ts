import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDecimals, toSortableDecimal } from './decimal.js';
import { amounts, plainSum } from '../../test/support/sample-snapshots.js';

describe('a sum of decimals', () => {
  it.each([
    ['1.10', '0.1', '1.20'],
    ['0.1', '0.2', '0.3'],
    ['19435.50', '-0.50', '19435.00'],
    ['1', '0.00', '1.00'],
    ['999', '1', '1000'],
    ['-0.01', '0.01', '0.00'],
    ['-0', '-0', '0'],
    ['-0.0', '0', '0.0'],
    ['-5', '2.5', '-2.5'],
    ['12345678901234567890.01', '0.001', '12345678901234567890.011'],
    ['007', '1', '8'],
    ['28491.590', '-41.090', '28450.500'],
    ['999999999999.999', '0.001', '1000000000000.000'],
    ['9999999999.99999', '-0.00001', '9999999999.99998'],
    ['9'.repeat(400), '1', `1${'0'.repeat(400)}`],
  ])('%s + %s = %s', (a, b, sum) => {
    expect(addDecimals(a, b)).toBe(sum);
  });

  it('equals BigInt arithmetic, with the larger number of decimals', () => {
    const decimal = fc.stringMatching(/^-?(0|[1-9]\d{0,29})(\.\d{1,20})?$/);
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(addDecimals(a, b)).toBe(plainSum([a, b]));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the sort key of a decimal', () => {
  const compare = (a: string, b: string) => {
    const [x, y] = [toSortableDecimal(a), toSortableDecimal(b)];
    return Number(x > y) - Number(x < y);
  };

  it.each([
    ['1.10', '1.1', 0],
    ['-0', '0.00', 0],
    ['-0.0', '0', 0],
    ['10000000000000000001', '10000000000000000002', -1],
    ['-10000000000000000001', '-10000000000000000002', 1],
    ['0.10000000000000000001', '0.1', 1],
    ['1' + '0'.repeat(399), '9' + '0'.repeat(398), 1],
    ['1' + '0'.repeat(399), '1' + '0'.repeat(398) + '1', -1],
    ['007', '7', 0],
    ['-1.5', '-1.55', 1],
    ['-1', '-1.5', 1],
    ['-2', '-10', 1],
    ['-0.01', '0', -1],
  ])('%s compared with %s is %i', (a, b, order) => {
    expect(compare(a, b)).toBe(order);
  });

  it('sorts like BigInt', () => {
    const near = amounts.chain((text) => fc.constantFrom(text, `${text}${text.includes('.') ? '' : '.'}0`));
    fc.assert(
      fc.property(amounts, fc.oneof(amounts, near), (a, b) => {
        const difference = plainSum([a, b.startsWith('-') ? b.slice(1) : `-${b}`]);
        const sign = /^-?[0.]*$/.test(difference) ? 0 : difference.startsWith('-') ? -1 : 1;
        expect(compare(a, b)).toBe(sign);
      }),
      { numRuns: 1000 },
    );
  });
});
