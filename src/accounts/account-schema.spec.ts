import { expect, it } from '@jest/globals';
import { readBankAccount } from '../bank/account-fields.js';
import { toAccount } from '../snapshot/account.js';
import { accountSchema } from './account-schema.js';

const IBAN = 'DK5000400440116243';
const full = toAccount(
  readBankAccount(
    {
      accountId: 'a-1',
      ibans: [IBAN],
      accountIdentifiers: [{ account: IBAN }],
      balances: [{ type: 'CurrentBalance', beginOfDayAmount: '1.10', intraDayAmount: '0.1' }],
    },
    '',
  ),
);

it('the schema has every field of an account, and no other', () => {
  expect(accountSchema.strict().parse(full)).toEqual(full);
});

it('the schema refuses an account that lacks a field', () => {
  const { protection: _, ...incomplete } = full;
  expect(accountSchema.safeParse(incomplete).success).toBe(false);
});
