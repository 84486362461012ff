import { describe, expect, it } from '@jest/globals';
import { readBankAccount } from '../bank/account-fields.js';
import { toAccount } from './account.js';

const account = (row: object = {}) => toAccount(readBankAccount({ accountId: 'a-1', ...row }, ''));
const balance = (each: object) => account({ balances: [each] }).balances[0];

const IBAN = 'DK5000400440116243';

const EMPTY = {
  id: 'a-1',
  name: 'a-1',
  description: null,
  status: null,
  currency: null,
  protection: null,
  iban: null,
  ibans: [],
  identifiers: [],
  owner: { id: null, name: null, number: null },
  openedAt: null,
  closedAt: null,
  balances: [],
  interest: { netRate: null, calcMethod: null },
  overdraft: { rate: null, calcMethod: null },
};

describe('an account of the API', () => {
  it('has every field, null or empty, when the bank sends but an id', () => {
    expect(account()).toEqual(EMPTY);
  });

  it('has every field, null or empty, when the bank sends "" for all', () => {
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
  ])('takes %s of the bank to where docs/api.md has it, and nowhere else', (name, change) => {
    expect(account({ [name]: 'x' })).toEqual({ ...EMPTY, ...change });
  });

  it('keeps the digits of rates', () => {
    const { interest, overdraft } = account({ netInterestRate: '3.250', overdraftRate: '-0.10' });
    expect([interest.netRate, overdraft.rate]).toEqual(['3.250', '-0.10']);
  });

  it.each(['2023-02-21T00:00:00+00:00', '2025-07-08', '2025-07-08T01:02:03.1234567Z', '0001-01-01T00:00:00'])(
    'keeps the date %s as it is',
    (date) => {
      expect(account({ openingDate: date, closingDate: date })).toMatchObject({ openedAt: date, closedAt: date });
    },
  );

  it('keeps its identifiers', () => {
    expect(
      account({ accountIdentifiers: [{ account: '123', financialInstitution: '', country: 'DK' }] }).identifiers,
    ).toEqual([{ account: '123', financialInstitution: null, country: 'DK' }]);
  });
});

describe('the name', () => {
  const all = { friendlyName: 'friendly', accountDescription: 'description', ibans: [IBAN] };

  it.each([
    [all, 'friendly'],
    [{ ...all, friendlyName: '' }, 'description'],
    [{ ...all, friendlyName: null, accountDescription: '' }, IBAN],
    [{ accountIdentifiers: [{ account: IBAN }] }, IBAN],
    [{ accountIdentifiers: [{ account: '12345' }] }, 'a-1'],
  ])('of %j is %s', (row, name) => {
    expect(account(row).name).toBe(name);
  });
});

describe('the IBAN', () => {
  it('is the first of the IBANs', () => {
    const { iban, ibans } = account({ ibans: ['DE89370400440532013000', IBAN] });
    expect([iban, ibans]).toEqual(['DE89370400440532013000', ['DE89370400440532013000', IBAN]]);
  });

  it('is the first identifier that is a valid one where there are no IBANs', () => {
    const accountIdentifiers = [{ account: null }, { account: '0123456789' }, { account: IBAN }, { account: 'x' }];
    expect(account({ accountIdentifiers }).iban).toBe(IBAN);
  });

  it('stands as the bank writes it', () => {
    expect(account({ accountIdentifiers: [{ account: 'dk50 0040 0440 1162 43' }] }).iban).toBe(
      'dk50 0040 0440 1162 43',
    );
  });

  it('is none where no identifier is valid', () => {
    expect(account({ accountIdentifiers: [{ account: 'DK5000400440116244' }] }).iban).toBeNull();
  });
});

describe('a balance', () => {
  it('takes each field of the bank to where docs/api.md has it', () => {
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

  it('has every field when the bank sends none', () => {
    expect(balance({})).toEqual({
      type: null,
      currency: null,
      beginOfDay: null,
      intraDay: null,
      current: null,
      blocked: null,
      financialDate: null,
      lastTransactionAt: null,
    });
  });

  it.each([{ beginOfDayAmount: '1' }, { intraDayAmount: '1' }, { beginOfDayAmount: null, intraDayAmount: '' }])(
    'has no current amount when a part of it is missing: %j',
    (each) => {
      expect(balance(each)?.current).toBeNull();
    },
  );

  it('is not lessened by what is blocked', () => {
    expect(balance({ beginOfDayAmount: '5', intraDayAmount: '0', blockedBalanceAmount: '4' })?.current).toBe('5');
  });

  it('adds amounts whose exponent was written out', () => {
    expect(balance({ beginOfDayAmount: '1E3', intraDayAmount: '25e-2' })?.current).toBe('1000.25');
  });
});
