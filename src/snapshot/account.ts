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
/** Dates of the bank have several forms. */
const dateOf = (example: string) => (z: Zod) => text(z).meta({ example, description: "the bank's text, unchanged" });

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
  financialDate: [dateOf('2026-11-20T00:00:00+00:00'), (bank) => bank.financialDate],
  lastTransactionAt: [dateOf('2026-11-19T14:09:51.067Z'), (bank) => bank.lastTransactionTimestamp],
} satisfies FieldTable<BankBalance>;

const createBalanceSchema = (z: Zod) => z.object(schemasOf(BALANCE, z)).meta({ id: 'Balance' });
const createIdentifierSchema = (z: Zod) =>
  z
    .object({
      account: textOf('LU060408592157516019')(z),
      financialInstitution: textOf('SNDBLU22XXX')(z),
      country: textOf('LU')(z),
    })
    .meta({ id: 'AccountIdentifier' });
const createOwnerSchema = (z: Zod) =>
  z
    .object({
      id: textOf('d9696ece-0a85-8f04-b92b-1128bc1aa045')(z),
      name: textOf('Nordlys Handel A/S')(z),
      number: textOf('000012578')(z),
    })
    .meta({ id: 'AccountOwner' });
const calcMethod = textOf('ACT/360');

/**
 * An account as internal web apps get it (docs/api.md#account): the one place where a field of it is added. Every field
 * is always there; dates are the bank's text, unchanged.
 */
const ACCOUNT = {
  id: [(z) => z.string().meta({ example: 'eba213f9-7469-8d7a-b5f9-4135ef61100f' }), (bank) => bank.accountId],
  name: [
    (z) =>
      z
        .string()
        .meta({ example: 'Client funds 54' })
        .describe('the first of friendly name, description, IBAN and id that there is'),
    (bank) => bank.friendlyName ?? bank.accountDescription ?? ibanOf(bank) ?? bank.accountId,
  ],
  description: [textOf('Client funds account EUR'), (bank) => bank.accountDescription],
  status: [textOf('Active'), (bank) => bank.status],
  currency: [textOf('EUR'), (bank) => bank.currency],
  protection: [textOf('SafeGuarded'), (bank) => bank.protectionType],
  iban: [textOf('LU060408592157516019'), ibanOf],
  ibans: [(z) => z.array(z.string()).meta({ example: ['LU060408592157516019'] }), (bank) => bank.ibans],
  identifiers: [
    (z) => z.array(createIdentifierSchema(z)),
    (bank) =>
      bank.accountIdentifiers.map(({ account, financialInstitution, country }) => ({
        account,
        financialInstitution,
        country,
      })),
  ],
  owner: [
    createOwnerSchema,
    (bank) => ({ id: bank.ownedByCompanyId, name: bank.ownedByCompanyName, number: bank.ownedByCompanyNumber }),
  ],
  openedAt: [dateOf('2017-06-03T00:00:00+00:00'), (bank) => bank.openingDate],
  closedAt: [dateOf('2026-06-30T00:00:00+00:00'), (bank) => bank.closingDate],
  balances: [(z) => z.array(createBalanceSchema(z)), (bank) => bank.balances.map(toBalance)],
  interest: [
    (z) => z.object({ netRate: decimalOf('1.25')(z), calcMethod: calcMethod(z) }).meta({ id: 'Interest' }),
    (bank) => ({ netRate: bank.netInterestRate, calcMethod: bank.interestCalcMethod }),
  ],
  overdraft: [
    (z) => z.object({ rate: decimalOf('9.5')(z), calcMethod: calcMethod(z) }).meta({ id: 'Overdraft' }),
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
