import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AmountColumnBuilder, compareAmounts, ExactSum } from './amount-column.js';
import { compareDecimals } from './decimal.js';
import { amounts } from './sample-account.test-support.js';

const places = (text: string) => text.split('.')[1]?.length ?? 0;
/** By big integers, as plain as can be. */
function plainSum(texts: readonly string[]): string {
  const most = Math.max(0, ...texts.map(places));
  const total = texts.reduce((sum, text) => sum + BigInt(text.replace('.', '') + '0'.repeat(most - places(text))), 0n);
  const digits = String(total < 0n ? -total : total).padStart(most + 1, '0');
  return (total < 0n ? '-' : '') + (most ? `${digits.slice(0, -most)}.${digits.slice(-most)}` : digits);
}
const columnOf = (texts: readonly string[]) => {
  const column = new AmountColumnBuilder();
  for (const text of texts) column.push(text);
  return column.take(Uint32Array.from(texts.keys()));
};
const sumOf = (texts: readonly string[]) => {
  const sum = new ExactSum(columnOf(texts));
  texts.forEach((_text, index) => sum.add(index));
  return sum.toString();
};

describe('exact numbers', () => {
  it('are summed as big integers would be', () => {
    fc.assert(
      fc.property(fc.array(amounts, { minLength: 1, maxLength: 60 }), (texts) => {
        expect(sumOf(texts)).toBe(plainSum(texts));
      }),
      { numRuns: 500 },
    );
  });

  it('are ordered in their columns as big integers are', () => {
    const near = amounts.chain((text) =>
      fc.constantFrom(text, `${text}${text.includes('.') ? '' : '.'}0`, `-${text.replace('-', '')}`),
    );
    const pairs = fc.oneof(
      fc.tuple(amounts, amounts),
      amounts.chain((text) => fc.tuple(fc.constant(text), near)),
    );
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        const most = Math.max(places(a), places(b));
        const whole = (text: string) => BigInt(text.replace('.', '') + '0'.repeat(most - places(text)));
        const [x, y] = [whole(a), whole(b)];
        expect(Math.sign(compareAmounts(columnOf([a, b]), 0, 1))).toBe(x < y ? -1 : x > y ? 1 : 0);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    [['1.10', '0.1'], '1.20'],
    [['-0.01', '0.01'], '0.00'],
    [['0.1', '-0.25'], '-0.15'],
    [[], '0'],
    [Array<string>(20).fill('999999999999999'), '19999999999999980'],
    [Array<string>(20).fill('-99999999999.99'), '-1999999999999.80'],
    [['9'.repeat(400), '1'], `1${'0'.repeat(400)}`],
  ])('%j is %s', (texts, sum) => {
    expect(sumOf(texts)).toBe(sum);
  });

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
  ])('%s against %s is %i', (a, b, order) => {
    expect(Math.sign(compareDecimals(a, b))).toBe(order);
  });
});
