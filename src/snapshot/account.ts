import { isValidIBAN } from 'ibantools';
import type { z } from 'zod';
import type { BankAccount, BankBalance } from '../bank/account-fields.js';
import { addDecimals } from './decimal.js';

/** Handed in where a schema is made: the thread that makes snapshots needs none, and loading zod is half of its start. */
type Zod = typeof z;
/** A field of the API's account: its schema, and how it comes from what the bank sent. */
type Field<From> = readonly [schema: (z: Zod) => z.ZodType, from: (bank: From) => unknown];
type FieldTable<From> = Readonly<Record<string, Field<From>>>;

const text = (z: Zod) => z.string().nullable();
const textOf = (example: string) => (z: Zod) => text(z).meta({ example });
/** `format: decimal` tells generators and people that a text is a number of any length. */
const decimalOf =
  (example: string, description = 'a decimal with the digits that the bank sent') =>
  (z: Zod) =>
    text(z).meta({ format: 'decimal', example, description });

const BALANCE = {
  type: [textOf('CurrentBalance'), (bank) => bank.type],
  currency: [textOf('EUR'), (bank) => bank.currency],
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

const createBalanceSchema = (z: Zod) => z.object(schemasOf(BALANCE, z)).meta({ id: 'Balance' });

/**
 * An account as internal web apps get it (docs/api.md#account): the one place where a field of it is added. Every field
 * is always there; dates are the bank's text, unchanged.
 */
const ACCOUNT = {
  id: [(z) => z.string(), (bank) => bank.accountId],
  name: [
    (z) => z.string().describe('the first of friendly name, description, IBAN and id that there is'),
    (bank) => bank.friendlyName ?? bank.accountDescription ?? ibanOf(bank) ?? bank.accountId,
  ],
  description: [text, (bank) => bank.accountDescription],
  status: [textOf('Active'), (bank) => bank.status],
  currency: [textOf('EUR'), (bank) => bank.currency],
  protection: [text, (bank) => bank.protectionType],
  iban: [text, ibanOf],
  ibans: [(z) => z.array(z.string()), (bank) => bank.ibans],
  identifiers: [
    (z) => z.array(z.object({ account: text(z), financialInstitution: text(z), country: text(z) })),
    (bank) =>
      bank.accountIdentifiers.map(({ account, financialInstitution, country }) => ({
        account,
        financialInstitution,
        country,
      })),
  ],
  owner: [
    (z) => z.object({ id: text(z), name: text(z), number: text(z) }),
    (bank) => ({ id: bank.ownedByCompanyId, name: bank.ownedByCompanyName, number: bank.ownedByCompanyNumber }),
  ],
  openedAt: [text, (bank) => bank.openingDate],
  closedAt: [text, (bank) => bank.closingDate],
  balances: [(z) => z.array(createBalanceSchema(z)), (bank) => bank.balances.map(toBalance)],
  interest: [
    (z) => z.object({ netRate: decimalOf('1.25')(z), calcMethod: text(z) }),
    (bank) => ({ netRate: bank.netInterestRate, calcMethod: bank.interestCalcMethod }),
  ],
  overdraft: [
    (z) => z.object({ rate: decimalOf('9.5')(z), calcMethod: text(z) }),
    (bank) => ({ rate: bank.overdraftRate, calcMethod: bank.overdraftRateCalcMethod }),
  ],
} satisfies FieldTable<BankAccount>;

/** To be called once: a schema's id can be given once. */
export const createAccountSchema = (z: Zod) => z.object(schemasOf(ACCOUNT, z)).meta({ id: 'Account' });

export type Balance = z.infer<ReturnType<typeof createBalanceSchema>>;
export type Account = z.infer<ReturnType<typeof createAccountSchema>>;

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

function schemasOf<const T extends Readonly<Record<string, readonly [(z: Zod) => z.ZodType, unknown]>>>(
  table: T,
  z: Zod,
) {
  const schemas = Object.fromEntries(Object.entries(table).map(([name, [schema]]) => [name, schema(z)]));
  return schemas as { -readonly [K in keyof T]: ReturnType<T[K][0]> };
}
