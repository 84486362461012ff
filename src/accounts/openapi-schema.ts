import type { ApiResponseSchemaHost } from '@nestjs/swagger';
import { z } from 'zod';

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
