import { z } from 'zod';
import { accountSchema } from '../list/account-schema.js';
import { totalSchema } from './totals.js';

/** Schema of the snapshot's state in a response. */
const snapshotSchema = z
  .object({
    asOf: z.iso.datetime().meta({ example: '2026-11-21T08:00:00.000Z' }).describe('when the bank was asked'),
    stale: z.boolean().describe('older than it should be, because the bank is slow or failing'),
    complete: z.boolean().nullable().describe("whether the bank's own count agrees; null when it gives none"),
  })
  .meta({ id: 'Snapshot' });

export const accountListSchema = z
  .object({
    accounts: z.array(accountSchema),
    page: z
      .object({
        number: z.int().min(1).meta({ example: 1 }),
        size: z.int().min(1).max(1000).meta({ example: 50 }),
        total: z.int().min(0).meta({ example: 120 }).describe('accounts that match, on all pages'),
        hasMore: z.boolean().describe('whether there is a page after this one'),
      })
      .meta({ id: 'Page' }),
    snapshot: snapshotSchema,
  })
  .meta({ id: 'AccountList' });

export const accountAnswerSchema = z
  .object({ account: accountSchema, snapshot: snapshotSchema })
  .meta({ id: 'AccountAnswer' });

export const balancesAnswerSchema = z
  .object({ totals: z.array(totalSchema), snapshot: snapshotSchema })
  .meta({ id: 'BalancesAnswer' });
