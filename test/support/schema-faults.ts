/** The part of JSON Schema that our OpenAPI document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly pattern?: string;
}

type Schemas = Readonly<Record<string, Schema>>;

/** Where a value is not as its schema says: "$.page.total is not integer". */
export function schemaFaults(value: unknown, schema: Schema, schemas: Schemas, at = '$'): string[] {
  const check = (part: unknown, of: Schema, where = at) => schemaFaults(part, of, schemas, where);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const found = schemas[name];
    return found ? check(value, found) : [`${at} has a schema that is not there: ${name}`];
  }
  if (value === null && schema.nullable) return [];
  const faults = (schema.allOf ?? []).flatMap((each) => check(value, each));
  for (const choices of [schema.anyOf, schema.oneOf]) {
    if (choices && !choices.some((each) => check(value, each).length === 0)) faults.push(`${at} fits no choice`);
  }
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOf(type, value))) {
    return [...faults, `${at} is not ${[schema.type].flat().join(' or ')}`];
  }
  if (schema.enum && !schema.enum.includes(value)) faults.push(`${at} is none of the values`);
  if (schema.const !== undefined && schema.const !== value) faults.push(`${at} is not the value`);
  if (schema.pattern !== undefined && typeof value === 'string' && !new RegExp(schema.pattern, 'u').test(value)) {
    faults.push(`${at} is not of the pattern`);
  }
  const { items } = schema;
  if (Array.isArray(value)) {
    if (items) faults.push(...value.flatMap((each, index) => check(each, items, `${at}[${index}]`)));
  } else if (typeof value === 'object' && value !== null) {
    faults.push(...objectFaults(value as Record<string, unknown>, schema, schemas, at));
  }
  return faults;
}

function objectFaults(value: Record<string, unknown>, schema: Schema, schemas: Schemas, at: string): string[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, part]) => {
    const of = properties[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (of) return schemaFaults(part, of, schemas, `${at}.${name}`);
    // nothing is given that the document does not tell of
    return schema.properties && additionalProperties !== true ? [`${at}.${name} is not in the schema`] : [];
  });
  return [...missing, ...wrong];
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
