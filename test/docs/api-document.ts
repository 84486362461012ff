/** The lists of docs/api.md, from the OpenAPI document. */

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters?: readonly Parameter[] } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The query parameters of a list; those that /api/v1/balances takes too are filters. */
export function parameterList({ paths }: OpenApi): string {
  const queryOf = (path: string) => (paths[path]?.get.parameters ?? []).filter((each) => each.in === 'query');
  const filters = new Set(queryOf('/api/v1/balances').map(({ name }) => name));
  return toItems(
    queryOf('/api/v1/accounts').map(({ name, description, schema }) => {
      const about = [filters.has(name) ? 'filter' : '', toValues(schema), description ?? schema.description ?? ''];
      return [name, about.filter((part) => part !== '').join('; ')];
    }),
  );
}

/** The values of a parameter, in words. */
function toValues({ enum: words, default: standard, minimum, maximum, minLength, maxLength }: Schema): string {
  if (words) {
    const ascending = words.filter((word) => !word.startsWith('-'));
    return ascending.map((word) => `\`${word}\`${word === standard ? ' (default)' : ''}`).join(', ');
  }
  if (maxLength !== undefined) return `${minLength}–${maxLength} characters`;
  const range = maximum === undefined ? `from ${minimum}` : `${minimum}–${maximum}`;
  return `${range}, default ${String(standard)}`;
}

/** The fields of a schema, and of the objects in it. */
export function fieldList({ components: { schemas } }: OpenApi, name: string): string {
  const resolve = (schema: Schema): Schema => schemas[schema.$ref?.replace(/^.*\//, '') ?? ''] ?? schema;
  return toItems(
    Object.entries(schemas[name]?.properties ?? {}).map(([field, schema]) => {
      const { description, items } = resolve(schema);
      const { properties } = resolve(items ?? schema);
      const inner = properties && `${items ? 'each ' : ''}\`{ ${Object.keys(properties).join(', ')} }\``;
      return [field, [inner, description].filter((part) => part !== undefined).join(', ')];
    }),
  );
}

const toItems = (items: readonly (readonly [string, string])[]): string =>
  items.map(([name, about]) => `- \`${name}\`: ${about}\n`).join('');
