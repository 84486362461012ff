import { describe, expect, it } from '@jest/globals';
import { readBankAccount } from './bank-account.js';
import { accountSchema } from './account-schema.js';
import { toAccount } from './account.js';

const account = (row: object = {}) => toAccount(readBankAccount({ accountId: 'a-1', ...row }, ''));
const balance = (each: object) => account({ balances: [each] }).balances[0];

/** Values inside lists and objects. */
const leavesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

const IBAN = 'DK5000400440116243';

const EMPTY = account();

describe('an account of the API', () => {
  it('has every field, null or empty, when the bank sends only an id', () => {
    const { id, name, ...others } = accountSchema.parse(EMPTY);
    expect([id, name]).toEqual(['a-1', 'a-1']);
    expect(leavesOf(others).filter((value) => value !== null)).toEqual([]);
  });

  it('has every field, null or empty, when the bank sends "" for the rest', () => {
    const names = ['accountDescription', 'friendlyName', 'status', 'currency', 'ownedByCompanyId', 'netInterestRate'];
    expect(account(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(EMPTY);
  });

  it.each([
    ['accountDescription', { description: 'x', name: 'x' }],
    ['friendlyName', { name: 'x' }],
    ['status', { status: 'x' }],
    ['currency', { currency: 'x' }],
    ['protectionType', { protection: 'x' }],
    ['openingDate', { openedAt: 'x' }],
    ['closingDate', { closedAt: 'x' }],
    ['ownedByCompanyId', { owner: { ...EMPTY.owner, id: 'x' } }],
    ['ownedByCompanyName', { owner: { ...EMPTY.owner, name: 'x' } }],
    ['ownedByCompanyNumber', { owner: { ...EMPTY.owner, number: 'x' } }],
    ['interestCalcMethod', { interest: { ...EMPTY.interest, calcMethod: 'x' } }],
    ['overdraftRateCalcMethod', { overdraft: { ...EMPTY.overdraft, calcMethod: 'x' } }],
  ])("has the bank's %s where docs/api.md documents it, and nowhere else", (name, change) => {
    expect(account({ [name]: 'x' })).toEqual({ ...EMPTY, ...change });
  });

  it('keeps rates, dates and identifiers as the bank sent them', () => {
    const [opened, closed] = ['2025-07-08T01:02:03.1234567Z', '0001-01-01T00:00:00'];
    const accountIdentifiers = [{ account: '123', financialInstitution: '', country: 'DK' }];
    const rates = { netInterestRate: '3.250', overdraftRate: '-0.10' };
    expect(account({ ...rates, openingDate: opened, closingDate: closed, accountIdentifiers })).toMatchObject({
      interest: { netRate: '3.250' },
      overdraft: { rate: '-0.10' },
      openedAt: opened,
      closedAt: closed,
      identifiers: [{ account: '123', financialInstitution: null, country: 'DK' }],
    });
  });
});

describe('the name of an account', () => {
  const all = { friendlyName: 'friendly', accountDescription: 'description', ibans: [IBAN] };

  it.each([
    [all, 'friendly'],
    [{ ...all, friendlyName: '' }, 'description'],
    [{ ...all, friendlyName: null, accountDescription: '' }, IBAN],
    [{ accountIdentifiers: [{ account: IBAN }] }, IBAN],
    [{ accountIdentifiers: [{ account: '12345' }] }, 'a-1'],
  ])('with %j is %s', (row, name) => {
    expect(account(row).name).toBe(name);
  });
});

describe('the IBAN of an account', () => {
  it.each<[string, object, string | null]>([
    ['the first of the IBANs', { ibans: ['DE89370400440532013000', IBAN] }, 'DE89370400440532013000'],
    [
      'else the first identifier that is a valid one',
      { accountIdentifiers: [{ account: null }, { account: '0123456789' }, { account: IBAN }, { account: 'x' }] },
      IBAN,
    ],
    [
      'as the bank writes it',
      { accountIdentifiers: [{ account: 'dk50 0040 0440 1162 43' }] },
      'dk50 0040 0440 1162 43',
    ],
    ['none where no identifier is valid', { accountIdentifiers: [{ account: 'DK5000400440116244' }] }, null],
  ])('is %s', (_name, row, iban) => {
    expect(account(row).iban).toBe(iban);
  });
});

describe('a balance', () => {
  it("has each of the bank's fields where docs/api.md documents it", () => {
    expect(
      balance({
        type: 'CurrentBalance',
        currency: 'EUR',
        beginOfDayAmount: '1.10',
        intraDayAmount: '0.1',
        blockedBalanceAmount: '1.00',
        financialDate: 'day',
        lastTransactionTimestamp: 'moment',
      }),
    ).toEqual({
      type: 'CurrentBalance',
      currency: 'EUR',
      beginOfDay: '1.10',
      intraDay: '0.1',
      current: '1.20',
      blocked: '1.00',
      financialDate: 'day',
      lastTransactionAt: 'moment',
    });
  });

  it.each([
    [{}, null],
    [{ beginOfDayAmount: '1' }, null],
    [{ intraDayAmount: '1' }, null],
    [{ beginOfDayAmount: null, intraDayAmount: '' }, null],
    // blocked is not subtracted
    [{ beginOfDayAmount: '5', intraDayAmount: '0', blockedBalanceAmount: '4' }, '5'],
    // exponents are written out
    [{ beginOfDayAmount: '1E3', intraDayAmount: '25e-2' }, '1000.25'],
  ])('with %j has current = %p', (each, current) => {
    expect(balance(each)?.current).toBe(current);
  });
});
