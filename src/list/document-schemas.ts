import { z } from 'zod';
import { accountSchema, decimal, text } from './account-schema.js';

const snapshotSchema = z
  .object({
    asOf: z.iso.datetime().meta({ example: '2026-11-21T08:00:00.000Z' }).describe('when the bank was asked'),
    expiresAt: z.iso
      .datetime()
      .meta({ example: '2026-11-21T08:05:00.000Z' })
      .describe('when this data stops being served; do not show data after it'),
    stale: z
      .boolean()
      .describe('older than it should be, because a refresh is slow or failing, or from an earlier run'),
    complete: z
      .boolean()
      .nullable()
      .describe("false if the bank's own count disagrees or an account is listed twice; null without a count"),
  })
  .meta({ id: 'Snapshot' });

const pageSchema = z
  .object({
    number: z.int().min(1).meta({ example: 1 }),
    size: z.int().min(1).max(1000).meta({ example: 50 }),
    total: z.int().min(0).meta({ example: 120 }).describe('accounts that match, on all pages'),
    hasMore: z.boolean().describe('whether there is a page after this one'),
  })
  .meta({ id: 'Page' });

const sum = decimal('70432.10', 'the exact sum as a decimal; null when an entry lacks the amount');
const date = text('2026-11-20T00:00:00+00:00', "the bank's text, unchanged");

const totalSchema = z
  .object({
    currency: text('EUR', "the entries' own; never added across currencies"),
    accounts: z.int().min(0).meta({ example: 7 }).describe('accounts with an entry in this currency'),
    missing: z.int().min(0).meta({ example: 0 }).describe('entries that lack an amount'),
    beginOfDay: sum,
    intraDay: sum,
    current: sum,
    earliestFinancialDate: date,
    latestFinancialDate: date,
  })
  .meta({ id: 'Total' });

/** The response document of each query (queries.ts): the source of the types and of the OpenAPI document. */
export const DOCUMENT_SCHEMAS = {
  accounts: documentOf('AccountList', { accounts: z.array(accountSchema), page: pageSchema }),
  account: documentOf('AccountAnswer', { account: accountSchema }),
  totals: documentOf('BalancesAnswer', { totals: z.array(totalSchema) }),
};

export type SnapshotFacts = z.infer<typeof snapshotSchema>;

export type Total = z.infer<typeof totalSchema>;

type Schemas = typeof DOCUMENT_SCHEMAS;
export type QueryKind = keyof Schemas;
/** The properties of a document except `snapshot`. */
export type Properties<K extends QueryKind> = Omit<z.infer<Schemas[K]>, 'snapshot'>;

function documentOf<T extends z.ZodRawShape>(id: string, properties: T) {
  return z.object({ ...properties, snapshot: snapshotSchema }).meta({ id });
}
