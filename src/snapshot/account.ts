import { isValidIBAN } from 'ibantools';
import { z } from 'zod';
import type { BankAccount, BankBalance } from '../bank/account-fields.js';
import { addDecimals } from './decimal.js';

/** A field of the API's account: its schema, and how it comes from what the bank sent. */
type Field<From> = readonly [schema: z.ZodType, from: (bank: From) => unknown];
type FieldTable<From> = Readonly<Record<string, Field<From>>>;

const text = z.string().nullable();
/** `format: decimal` tells generators and people that a text is a number of any length. */
const decimalOf = (example: string, description = 'a decimal with the digits that the bank sent') =>
  z.string().nullable().meta({ format: 'decimal', example, description });

const BALANCE = {
  type: [text.meta({ example: 'CurrentBalance' }), (bank) => bank.type],
  currency: [text.meta({ example: 'EUR' }), (bank) => bank.currency],
  beginOfDay: [decimalOf('19435.50'), (bank) => bank.beginOfDayAmount],
  intraDay: [decimalOf('-12.05', 'change since the start of the day'), (bank) => bank.intraDayAmount],
  current: [
    decimalOf('19423.45', 'beginOfDay + intraDay, added exactly; null if either is missing; blocked is not taken off'),
    ({ beginOfDayAmount, intraDayAmount }) =>
      beginOfDayAmount === null || intraDayAmount === null ? null : addDecimals(beginOfDayAmount, intraDayAmount),
  ],
  blocked: [decimalOf('0'), (bank) => bank.blockedBalanceAmount],
  financialDate: [text, (bank) => bank.financialDate],
  lastTransactionAt: [text, (bank) => bank.lastTransactionTimestamp],
} satisfies FieldTable<BankBalance>;

const balanceSchema = z.object(schemasOf(BALANCE)).meta({ id: 'Balance' });

/**
 * An account as internal web apps get it (docs/api.md#account): the one place where a field of it is added. Every field
 * is always there; dates are the bank's text, unchanged.
 */
const ACCOUNT = {
  id: [z.string(), (bank) => bank.accountId],
  name: [
    z.string().describe('the first of friendly name, description, IBAN and id that there is'),
    (bank) => bank.friendlyName ?? bank.accountDescription ?? ibanOf(bank) ?? bank.accountId,
  ],
  description: [text, (bank) => bank.accountDescription],
  status: [text.meta({ example: 'Active' }), (bank) => bank.status],
  currency: [text.meta({ example: 'EUR' }), (bank) => bank.currency],
  protection: [text, (bank) => bank.protectionType],
  iban: [text, ibanOf],
  ibans: [z.array(z.string()), (bank) => bank.ibans],
  identifiers: [
    z.array(z.object({ account: text, financialInstitution: text, country: text })),
    (bank) =>
      bank.accountIdentifiers.map(({ account, financialInstitution, country }) => ({
        account,
        financialInstitution,
        country,
      })),
  ],
  owner: [
    z.object({ id: text, name: text, number: text }),
    (bank) => ({ id: bank.ownedByCompanyId, name: bank.ownedByCompanyName, number: bank.ownedByCompanyNumber }),
  ],
  openedAt: [text, (bank) => bank.openingDate],
  closedAt: [text, (bank) => bank.closingDate],
  balances: [z.array(balanceSchema), (bank) => bank.balances.map(toBalance)],
  interest: [
    z.object({ netRate: decimalOf('1.25'), calcMethod: text }),
    (bank) => ({ netRate: bank.netInterestRate, calcMethod: bank.interestCalcMethod }),
  ],
  overdraft: [
    z.object({ rate: decimalOf('9.5'), calcMethod: text }),
    (bank) => ({ rate: bank.overdraftRate, calcMethod: bank.overdraftRateCalcMethod }),
  ],
} satisfies FieldTable<BankAccount>;

export const accountSchema = z.object(schemasOf(ACCOUNT)).meta({ id: 'Account' });

export type Balance = z.infer<typeof balanceSchema>;
export type Account = z.infer<typeof accountSchema>;

const balanceFields: readonly (readonly [string, Field<BankBalance>])[] = Object.entries(BALANCE);
const accountFields: readonly (readonly [string, Field<BankAccount>])[] = Object.entries(ACCOUNT);

/** The bank's account as an account of the API. */
export function toAccount(bank: BankAccount): Account {
  const account: Record<string, unknown> = {};
  for (const [name, [, from]] of accountFields) account[name] = from(bank);
  return account as Account;
}

function toBalance(bank: BankBalance): Balance {
  const balance: Record<string, unknown> = {};
  for (const [name, [, from]] of balanceFields) balance[name] = from(bank);
  return balance as Balance;
}

/** The first of the IBANs, else the first identifier that is a valid IBAN, as it stands there. */
function ibanOf({ ibans, accountIdentifiers }: BankAccount): string | null {
  return ibans[0] ?? accountIdentifiers.find(({ account }) => account !== null && isIban(account))?.account ?? null;
}

function isIban(identifier: string): boolean {
  return isValidIBAN(identifier.replaceAll(' ', '').toUpperCase());
}

function schemasOf<const T extends Readonly<Record<string, readonly [z.ZodType, unknown]>>>(table: T) {
  const schemas = Object.fromEntries(Object.entries(table).map(([name, [schema]]) => [name, schema]));
  return schemas as { -readonly [K in keyof T]: T[K][0] };
}
