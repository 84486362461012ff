import { z } from 'zod';

const text = z.string().nullable();
const decimal = z.string().nullable().describe('a decimal with the digits that the bank sent');

export const balanceSchema = z
  .object({
    type: text.meta({ example: 'CurrentBalance' }),
    currency: text.meta({ example: 'EUR' }),
    beginOfDay: decimal,
    intraDay: decimal.describe('change since the start of the day'),
    current: decimal.describe(
      'beginOfDay + intraDay, added exactly; null if either is missing; blocked is not taken off',
    ),
    blocked: decimal,
    financialDate: text,
    lastTransactionAt: text,
  })
  .meta({ id: 'Balance' });

/** An account in our words (contract §3). Every field is always there; dates are the bank's text, unchanged. */
export const accountSchema = z
  .object({
    id: z.string(),
    name: z.string().describe('the first of friendly name, description, IBAN and id that there is'),
    description: text,
    status: text.meta({ example: 'Active' }),
    currency: text.meta({ example: 'EUR' }),
    protection: text,
    iban: text,
    ibans: z.array(z.string()),
    identifiers: z.array(z.object({ account: text, financialInstitution: text, country: text })),
    owner: z.object({ id: text, name: text, number: text }),
    openedAt: text,
    closedAt: text,
    balances: z.array(balanceSchema),
    interest: z.object({ netRate: decimal, calcMethod: text }),
    overdraft: z.object({ rate: decimal, calcMethod: text }),
  })
  .meta({ id: 'Account' });

export const snapshotInfoSchema = z
  .object({
    asOf: z.iso.datetime().describe('when the bank was asked'),
    stale: z.boolean().describe('older than it should be, because the bank is slow or failing'),
    complete: z.boolean().nullable().describe("whether the bank's own count agrees; null when it gives none"),
  })
  .meta({ id: 'Snapshot' });

export const accountListSchema = z
  .object({
    accounts: z.array(accountSchema),
    page: z.object({ number: z.int(), size: z.int(), total: z.int(), hasMore: z.boolean() }),
    snapshot: snapshotInfoSchema,
  })
  .meta({ id: 'AccountList' });

export const accountAnswerSchema = z
  .object({ account: accountSchema, snapshot: snapshotInfoSchema })
  .meta({ id: 'AccountAnswer' });

export type Balance = z.infer<typeof balanceSchema>;
export type Account = z.infer<typeof accountSchema>;
export type SnapshotInfo = z.infer<typeof snapshotInfoSchema>;
