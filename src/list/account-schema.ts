import { z } from 'zod';

export const text = (example: string, description?: string) =>
  z
    .string()
    .nullable()
    .meta({ example, ...(description !== undefined && { description }) });
/** `format: decimal` marks a string that contains a decimal number. */
export const decimal = (example: string, description = 'a decimal with the digits that the bank sent') =>
  z.string().nullable().meta({ format: 'decimal', example, description });
/** The bank writes dates in several forms. */
const date = (example: string, name: string) => text(example, `the bank's ${name}, unchanged; formats differ`);

export const balanceSchema = z
  .object({
    type: text('CurrentBalance'),
    currency: text('EUR'),
    beginOfDay: decimal('19435.50'),
    intraDay: decimal('-12.05', 'change since the start of the day'),
    current: decimal(
      '19423.45',
      'beginOfDay + intraDay, added exactly; null if either is missing; blocked is not subtracted',
    ),
    blocked: decimal('0'),
    financialDate: date('2026-11-20T00:00:00+00:00', '`financialDate`'),
    lastTransactionAt: date('2026-11-19T14:09:51.067Z', '`lastTransactionTimestamp`'),
  })
  .meta({ id: 'Balance' });

const identifierSchema = z
  .object({
    account: text('LU060408592157516019'),
    financialInstitution: text('SNDBLU22XXX'),
    country: text('LU'),
  })
  .meta({ id: 'AccountIdentifier' });

const ownerSchema = z
  .object({
    id: text('d9696ece-0a85-8f04-b92b-1128bc1aa045'),
    name: text('Nordlys Handel A/S'),
    number: text('000012578'),
  })
  .meta({ id: 'AccountOwner', description: "the bank's `ownedByCompany…`" });

/**
 * An account for internal web apps (docs/api.md#account): the source of the type and of the OpenAPI document. Every
 * field is always present; arrays and objects are never null.
 */
export const accountSchema = z
  .object({
    id: z.string().meta({ example: 'eba213f9-7469-8d7a-b5f9-4135ef61100f', description: "the bank's `accountId`" }),
    name: z.string().meta({
      example: 'Client funds 54',
      description: "the bank's `friendlyName`, else `accountDescription`, else the IBAN, else the id",
    }),
    description: text('Client funds account EUR', "the bank's `accountDescription`"),
    status: text('Active', "the bank's `status`; an open list, so expect unknown values"),
    currency: text('EUR', "the bank's `currency`"),
    protection: text('SafeGuarded', "the bank's `protectionType`; an open list"),
    iban: text('LU060408592157516019', 'the first of `ibans`, else the first identifier that is a valid IBAN'),
    ibans: z.array(z.string()).meta({ example: ['LU060408592157516019'], description: "the bank's `ibans`" }),
    identifiers: z.array(identifierSchema).meta({ description: "the bank's `accountIdentifiers`" }),
    owner: ownerSchema,
    openedAt: date('2017-06-03T00:00:00+00:00', '`openingDate`'),
    closedAt: date('2026-06-30T00:00:00+00:00', '`closingDate`'),
    balances: z.array(balanceSchema).meta({ description: "the bank's `balances`" }),
    interest: z
      .object({ netRate: decimal('1.25'), calcMethod: text('ACT/360') })
      .meta({ id: 'Interest', description: "the bank's `netInterestRate` and `interestCalcMethod`" }),
    overdraft: z
      .object({ rate: decimal('9.5'), calcMethod: text('ACT/360') })
      .meta({ id: 'Overdraft', description: "the bank's `overdraftRate` and `overdraftRateCalcMethod`" }),
  })
  .meta({ id: 'Account' });
