import type { ApiResponseSchemaHost } from '@nestjs/swagger';
import { z } from 'zod';
import { accountSchema } from '../snapshot/account.js';
import { totalSchema } from '../snapshot/totals.js';

const snapshotSchema = z
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
    snapshot: snapshotSchema,
  })
  .meta({ id: 'AccountList' });

export const accountAnswerSchema = z
  .object({ account: accountSchema, snapshot: snapshotSchema })
  .meta({ id: 'AccountAnswer' });

export const balancesAnswerSchema = z
  .object({ totals: z.array(totalSchema), snapshot: snapshotSchema })
  .meta({ id: 'BalancesAnswer' });

/** Where zod puts what has an id. */
const AT = '#/definitions/';

type OpenApiSchema = ApiResponseSchemaHost['schema'];

interface JsonSchema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, object>>;
}

/** A schema as OpenAPI 3.0 has it, for answers of several content types; parts with an id are those under components. */
export function toOpenApiSchema(schema: z.ZodType): OpenApiSchema {
  const { $ref, definitions, ...inline }: JsonSchema = z.toJSONSchema(schema, { target: 'openapi-3.0' });
  const found = $ref ? definitions?.[$ref.slice(AT.length)] : inline;
  return JSON.parse(JSON.stringify(found).replaceAll(AT, '#/components/schemas/')) as OpenApiSchema;
}
