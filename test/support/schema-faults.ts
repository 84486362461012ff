import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';

/** The part of JSON Schema that the tests use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
}

/**
 * The violations of its schema in a value, such as "/page/total must be integer". Unknown fields are violations too.
 */
export function schemaFaults(value: unknown, schema: Schema, schemas: Readonly<Record<string, Schema>>): string[] {
  const closed = JSON.parse(JSON.stringify({ ...schema, components: { schemas } }), (_key, part: unknown) =>
    typeof part === 'object' && part !== null && 'type' in part && 'properties' in part
      ? { additionalProperties: false, ...part }
      : part,
  ) as AnySchemaObject;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.validate(closed, value);
  return (ajv.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath || '/'} ${message}`);
}
