import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { splitAmount, splitIban, widestFraction } from './amount.js';

describe('an amount in parts', () => {
  it.each([
    ['0', '', ['0'], ''],
    ['999', '', ['999'], ''],
    ['1000', '', ['1', '000'], ''],
    ['-1234567.80', '-', ['1', '234', '567'], '.80'],
    ['12345678901234567890.123', '', ['12', '345', '678', '901', '234', '567', '890'], '.123'],
    ['-0.01', '-', ['0'], '.01'],
  ])('%s', (text, sign, groups, fraction) => {
    expect(splitAmount(text)).toEqual({ sign, groups, fraction });
  });

  it('is, put together, the text that it was', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?\d{1,60}(\.\d{1,60})?$/), (text) => {
        const { sign, groups, fraction } = splitAmount(text) ?? { sign: 'x', groups: [], fraction: '' };
        expect(`${sign}${groups.join('')}${fraction}`).toBe(text);
        expect(groups.every((group, index) => group.length === 3 || index === 0)).toBe(true);
      }),
    );
  });

  it.each(['', '.5', '1.', '1e3', ' 1', '1,000', 'NaN', '--1', '+1', '١'])('refuses %j', (text) => {
    expect(splitAmount(text)).toBeNull();
  });
});

describe('an IBAN in groups', () => {
  it('is split by four', () => {
    expect(splitIban('LU060408592157516019')).toEqual(['LU06', '0408', '5921', '5751', '6019']);
  });

  it.each(['', '0012345678', 'LU06 0408 5921', 'lu060408592157516019', 'LU06\u202e040859215751'])(
    'not so %j',
    (text) => {
      expect(splitIban(text)).toBeNull();
    },
  );
});

it('the widest fraction is that of the amounts that have one', () => {
  expect(widestFraction(['1', null, '2.50', '3.125'])).toBe(4);
  expect(widestFraction([])).toBe(0);
});
