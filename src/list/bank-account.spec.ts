import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { ACCOUNT_FIELDS, readBankAccount, writeOut, type BankAccount } from './bank-account.js';

const read = (row: object) => readBankAccount({ accountId: 'a-1', ...row }, 'result[3]');

async function detailOf(row: object): Promise<string> {
  const { code, detail } = await rejectionOf(() => read(row));
  expect(code).toBe('bank-response-invalid');
  return detail;
}

const DECIMALS = ['netInterestRate', 'overdraftRate'] as const;
const LISTS = ['accountIdentifiers', 'ibans', 'balances'] as const;
const OTHERS = new Set<string>(['accountId', ...DECIMALS, ...LISTS]);
const TEXTS = Object.keys(ACCOUNT_FIELDS).filter((name) => !OTHERS.has(name)) as (keyof BankAccount)[];
const BALANCE_TEXTS = ['type', 'currency', 'financialDate', 'lastTransactionTimestamp'] as const;
const BALANCE_DECIMALS = ['beginOfDayAmount', 'intraDayAmount', 'blockedBalanceAmount'] as const;
const IDENTIFIER_TEXTS = ['account', 'financialInstitution', 'country'] as const;

const EMPTY = {
  accountId: 'a-1',
  ...Object.fromEntries([...TEXTS, ...DECIMALS].map((name) => [name, null])),
  ...Object.fromEntries(LISTS.map((name) => [name, []])),
};

// src/list/account.spec.ts tests the result of each field
describe('an account of the bank', () => {
  it('with only an id has null and [] for the rest', () => {
    expect(read({})).toEqual(EMPTY);
  });

  it.each([null, ''])('has null and [] where the bank sends %j', (nothing) => {
    const names = [...TEXTS, ...DECIMALS, ...LISTS];
    expect(read(Object.fromEntries(names.map((name) => [name, nothing])))).toEqual(EMPTY);
  });

  it('ignores unknown keys', () => {
    expect(read({ hunter2: { deep: [1] }, constructor: 'x' })).toEqual(EMPTY);
  });

  it('drops null and "" from its lists', () => {
    const account = read({ ibans: [null, 'DE1', ''], balances: [null, { type: 'x' }], accountIdentifiers: [null] });
    expect(account.ibans).toEqual(['DE1']);
    expect(account.balances).toHaveLength(1);
    expect(account.accountIdentifiers).toEqual([]);
  });

  it('has a whole number in a list of texts as a string of its digits', async () => {
    expect(read({ ibans: [12_345] }).ibans).toEqual(['12345']);
    expect(await detailOf({ ibans: ['DE1', 2 ** 53] })).toContain('ibans[1] is not a string');
  });
});

describe('an account that cannot be read is rejected with the path, not the value', () => {
  it.each<[problem: string, paths: readonly string[], values: readonly unknown[]]>([
    ['is missing', ['accountId'], [undefined, null, '']],
    ['is not a string', ['accountId', ...TEXTS], [{ hunter2: 1 }, ['hunter2'], []]],
    ['is not an array', LISTS, ['hunter2', {}, true]],
    ['is not an object', ['balances[1]', 'accountIdentifiers[1]'], ['hunter2', [], true]],
    ['is not a string', ['ibans[1]'], [{ hunter2: 1 }]],
    ['is not a string', BALANCE_TEXTS.map((name) => `balances[1].${name}`), [{}]],
    ['is not a string', IDENTIFIER_TEXTS.map((name) => `accountIdentifiers[1].${name}`), [{}]],
    [
      'is not a number, or has more than 400 digits',
      [...DECIMALS, ...BALANCE_DECIMALS.map((name) => `balances[1].${name}`)],
      [...'hunter2|1,5|12.30 EUR| 1|+1|.5|5.|0x1|NaN|1e|--1|ACT/360'.split('|'), true, {}, []],
    ],
  ])('%s', async (problem, paths, values) => {
    for (const path of paths) {
      for (const value of values) {
        const [, name = '', inList, member] = /^(\w+)(\[1\])?(?:\.(\w+))?$/.exec(path) ?? [];
        const entry = member ? { [member]: value } : value;
        const detail = await detailOf({ [name]: inList ? [null, entry] : entry });
        expect(detail).toBe(`In the account list, result[3].${path} ${problem}.`);
      }
    }
  });
});

describe('a decimal', () => {
  it.each([
    '0',
    '-0',
    '999',
    '19435.50',
    '-0.01',
    '1.10',
    '12345678901234567890',
    '0.00',
    '007',
    '-12345678901234567890.10',
  ])('%s keeps its digits', (text) => {
    expect(writeOut(text)).toBe(text);
  });

  it.each([
    ['1e3', '1000'],
    ['1.5e3', '1500'],
    ['1.50E+1', '15.0'],
    ['25E-4', '0.0025'],
    ['-2.5e-1', '-0.25'],
    ['1.23e0', '1.23'],
    ['0.05e1', '0.5'],
    ['0e5', '0'],
    ['-0.00e1', '-0.0'],
    ['100e-2', '1.00'],
    ['1e-2', '0.01'],
    ['1E0400', null],
    ['1E399', `1${'0'.repeat(399)}`],
    ['1E-399', `0.${'0'.repeat(398)}1`],
  ])('%s becomes %p', (text, written) => {
    expect(writeOut(text)).toBe(written);
  });

  it('of 400 digits is kept', () => {
    for (const text of ['9'.repeat(400), `-${'9'.repeat(200)}.${'9'.repeat(200)}`]) expect(writeOut(text)).toBe(text);
  });

  it.each([
    '9'.repeat(401),
    `${'9'.repeat(200)}.${'9'.repeat(201)}`,
    '1E400',
    '1E-400',
    '1e99999999999999999999',
    '1e-99999999999999999999',
    '1E1000000000',
  ])('of more than 400 digits is rejected (%#)', (text) => {
    expect(writeOut(text)).toBeNull();
  });

  it('with an exponent keeps its value when written out', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,14})(\.\d{1,14})?$/);
    fc.assert(
      fc.property(digits, fc.integer({ min: -40, max: 40 }), fc.constantFrom('e', 'E'), (text, exponent, e) => {
        const written = writeOut(`${text}${e}${exponent}`);
        expect(written).toMatch(/^-?(0|[1-9]\d*)(\.\d+)?$/);
        expect(scaled(written ?? '')).toBe(scaled(text, exponent));
      }),
      { numRuns: 2000 },
    );
  });
});

/** A decimal times 10^(exponent + 60), as a whole number. */
function scaled(text: string, exponent = 0): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(exponent + 60 - fraction.length);
}

describe('lists within an account', () => {
  it.each(['balances', 'accountIdentifiers', 'ibans'])('may have at most 100 %s', async (name) => {
    const row = (length: number) => ({ [name]: Array.from({ length }, () => null) });
    expect(read(row(100)).accountId).toBe('a-1');
    expect(await detailOf(row(101))).toBe(`In the account list, result[3].${name} has more than 100 entries.`);
  });
});

describe('the length of a field', () => {
  it.each([
    ['accountDescription', 4000, (value: string) => ({ accountDescription: value })],
    ['status', 4000, (value: string) => ({ status: value })],
    ['accountId', 200, (value: string) => ({ accountId: value })],
    ['ownedByCompanyId', 200, (value: string) => ({ ownedByCompanyId: value })],
    ['currency', 10, (value: string) => ({ currency: value })],
    ['balances[1].currency', 10, (value: string) => ({ balances: [{}, { currency: value }] })],
    ['ibans[0]', 4000, (value: string) => ({ ibans: [value] })],
    ['accountIdentifiers[0].account', 4000, (value: string) => ({ accountIdentifiers: [{ account: value }] })],
  ])('%s: at most %i characters', async (path, max, toRow) => {
    expect(JSON.stringify(read(toRow('x'.repeat(max))))).toContain('x'.repeat(max));
    expect(await detailOf(toRow('x'.repeat(max + 1)))).toBe(
      `In the account list, result[3].${path} has more than ${max} characters.`,
    );
  });

  it('is bounded for a number with endless padding', async () => {
    const amount = `1e${'0'.repeat(4000)}`;
    expect(await detailOf({ balances: [{ beginOfDayAmount: amount }] })).toContain('beginOfDayAmount is not a number');
  });
});
