import type { ApiResponseSchemaHost } from '@nestjs/swagger';
import { z } from 'zod';

export type OpenApiSchema = ApiResponseSchemaHost['schema'];

const toReference = (id: string): string => `#/components/schemas/${id}`;

/** A reference, for the `content` of a response; `namedSchemas` contains its target. @throws Error without an id */
export function refTo(schema: z.ZodType): { readonly $ref: string } {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error("refTo takes a schema with a name: .meta({ id: 'AccountList' })");
  return { $ref: toReference(id) };
}

/** The schema of a query for the document, with defaults in the form that a caller sends. */
export function toParameterSchema(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // zod omits the default of a value that it transforms, here from string to number
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
    },
  });
}

/** Every schema that has an id. */
export function namedSchemas(): Record<string, OpenApiSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    target: 'draft-2020-12',
    uri: toReference,
    override: ({ jsonSchema }) => {
      // fields may be added to responses (docs/api.md), so no schema forbids additional ones
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // zod wraps a reference that has its own description; a bare reference is easier to read
      const [only, ...others] = jsonSchema.allOf ?? [];
      if (only?.$ref !== undefined && others.length === 0) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        jsonSchema.$ref = only.$ref;
      }
      // the format is enough, and the pattern is longer than all the rest
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      // zod's default bounds of every integer carry no information, and generators take them for examples
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  for (const schema of Object.values(schemas)) {
    // redundant in the document: the name is already the key
    delete schema.$id;
    delete schema.$schema;
    delete schema['id'];
  }
  return schemas as Record<string, OpenApiSchema>;
}
