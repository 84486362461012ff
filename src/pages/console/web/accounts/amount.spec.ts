import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { splitAmount, splitIban, widestFraction } from './amount.js';

describe('an amount in parts', () => {
  it.each([
    ['999', ['999'], ''],
    ['1000', ['1', '000'], ''],
    ['-1234567.80', ['-1', '234', '567'], '.80'],
    ['-0.01', ['-0'], '.01'],
    // text other than an amount is unchanged
    ...['', '.5', '1.', '1e3', ' 1', '1,000', '--1', '+1', '١'].map((text) => [text, [text], ''] as const),
  ])('are those of %s', (text, groups, fraction) => {
    expect(splitAmount(text)).toEqual({ groups, fraction });
  });

  it('joins back to the original text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?\d{1,60}(\.\d{1,60})?$/), (text) => {
        const { groups, fraction } = splitAmount(text);
        expect(groups.join('') + fraction).toBe(text);
        expect(groups.every((group, index) => group.length === 3 || index === 0)).toBe(true);
      }),
    );
  });
});

describe('an IBAN in groups', () => {
  it('is split by four', () => {
    expect(splitIban('LU060408592157516019')).toEqual(['LU06', '0408', '5921', '5751', '6019']);
  });

  it.each(['', '0012345678', 'LU06 0408 5921', 'lu060408592157516019', 'LU06\u202e040859215751'])(
    'is null for %j',
    (text) => {
      expect(splitIban(text)).toBeNull();
    },
  );
});

it('the widest fraction is the widest among the amounts with a fraction', () => {
  expect(widestFraction(['1', null, '2.50', '3.125'])).toBe(4);
  expect(widestFraction([])).toBe(0);
});
