import { describe, expect, it } from '@jest/globals';
import { isValidBIC, isValidIBAN } from 'ibantools';
import type { BankAccount } from './bank-account.js';
import { createAccount } from './create-account.js';

const accounts: BankAccount[] = Array.from({ length: 1000 }, (_, index) => createAccount(1, index));
const some = (test: (account: BankAccount) => boolean): boolean => accounts.some(test);

describe('a made-up account', () => {
  it('is the same for the same seed and index, and different otherwise', () => {
    expect(createAccount(1, 77)).toEqual(accounts[77]);
    expect(createAccount(2, 77).accountId).not.toBe(accounts[77]?.accountId);
    expect(new Set(accounts.map(({ accountId }) => accountId)).size).toBe(1000);
  });

  it('has UUIDs, valid IBANs of several countries, and BICs', () => {
    const ibans = accounts.flatMap((account) => account.ibans ?? []);
    for (const iban of ibans) expect([iban, isValidIBAN(iban)]).toEqual([iban, true]);
    expect(new Set(ibans.map((iban) => iban.slice(0, 2))).size).toBe(8);
    const bics = accounts
      .flatMap((account) => account.accountIdentifiers ?? [])
      .map((id) => id.financialInstitution ?? '');
    expect(bics).toContain('');
    for (const bic of bics) expect(bic === '' || bic === '202959' || isValidBIC(bic)).toBe(true);
    for (const { accountId } of accounts)
      expect(accountId).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  it('has the oddities that break clients', () => {
    expect(some(({ ibans, accountIdentifiers }) => ibans === null && accountIdentifiers !== null)).toBe(true);
    expect(some(({ accountIdentifiers }) => accountIdentifiers === null)).toBe(true);
    expect(some(({ balances }) => balances === null)).toBe(true);
    expect(some(({ balances }) => balances?.length === 0)).toBe(true);
    expect(some(({ balances }) => (balances?.length ?? 0) > 1)).toBe(true);
    expect(some(({ status, closingDate }) => status === 'Closed' && closingDate !== null)).toBe(true);
    expect(accounts.every(({ status, closingDate }) => (status === 'Closed') === (closingDate !== null))).toBe(true);
    for (const name of ['', null, '=SUM(A1)']) expect(some(({ friendlyName }) => friendlyName === name)).toBe(true);
    for (const number of ['000012578', null]) expect(some((one) => one.ownedByCompanyNumber === number)).toBe(true);
    for (const blocked of [undefined, null]) {
      expect(some(({ balances }) => balances?.[0] !== undefined && balances[0].blockedBalanceAmount === blocked)).toBe(
        true,
      );
    }
    expect(some(({ balances }) => balances?.[0]?.lastTransactionTimestamp === null)).toBe(true);
    for (const form of [/^0001-/, /^\d{4}-\d\d-\d\d$/, /Z$/, /\.\d{7}/, /\+02:00$/, /\+00:00$/]) {
      expect(some((one) => form.test(one.openingDate) || form.test(one.closingDate ?? ''))).toBe(true);
    }
    expect(new Set(accounts.map(({ protectionType }) => protectionType)).size).toBe(3);
  });
});
