import type { OpenAPIObject } from '@nestjs/swagger';
import { toHtmlPage } from '../html/html-page.js';
import { renderMarkdown, toAnchor } from '../html/markdown.js';
import type { OpenApiSchema } from '../../representation/schemas.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = Extract<NonNullable<Operation['parameters']>[number], { name: string }>;

/** The API as a page for people: each route with an example beside it, then each schema. */
export function toReferencePage({ info, paths, components }: OpenAPIObject): string {
  const schemas = (components?.schemas ?? {}) as Record<string, OpenApiSchema>;
  const examples = new Examples(schemas);
  const gets = Object.entries(paths).flatMap(([path, { get }]) => (get ? [{ path, get }] : []));
  // the accounts are what most readers come for
  const ordered = gets.toSorted((a, b) => placeOf(a.path) - placeOf(b.path));
  const markdown = `# API reference

${info.description ?? ''}

Version ${info.version} · [OpenAPI document](/openapi.json) · [how to use it](/docs/guide/api)

${ordered.map(({ path, get }) => toRoute(path, get, examples)).join('')}
## Schemas

${Object.entries(schemas).map(toSchema).join('')}`;
  const toLink = (text: string, heading = text) => ({ href: `#${toAnchor(heading)}`, text });
  const index = [
    { heading: 'Operations', links: ordered.map(({ path }) => toLink(path, `GET ${path}`)) },
    { heading: 'Schemas', links: Object.keys(schemas).map((name) => toLink(name)) },
  ];
  return toHtmlPage('API reference', renderMarkdown(markdown), { place: '/docs', index });
}

/** The order of the operations. */
const ORDER = ['/api/', '/health', '/metrics', '/problems'];
const placeOf = (path: string): number =>
  ORDER.findIndex((prefix) => path.startsWith(prefix)) + (path === '/api/v1/accounts' ? -0.5 : 0);

function toRoute(path: string, operation: Operation, examples: Examples): string {
  const { parameters = [], responses, summary = '', description = '' } = operation;
  // a link can only call a route with a complete address
  const call = path.includes('{') ? '' : ` · [call it](${path})`;
  const answers = Object.entries(responses).map(([status, response]) => {
    const { description: answer = '', content = {} } = response as { description?: string; content?: object };
    return [code(status), answer, Object.keys(content).map(code).join(' ')];
  });
  const given = parameters
    .filter((each): each is Parameter => 'name' in each)
    .map(({ name, description: text, schema }) => [
      code(name),
      [toType(schema as OpenApiSchema), toLimits(schema as OpenApiSchema)].filter(Boolean).join(', '),
      text ?? (schema as OpenApiSchema).description ?? '',
    ]);
  return `## GET ${path}

<div class="operation">
<div>

${summary}${call}

${description}

${given.length === 0 ? '' : toTable(['parameter', 'value and limits', 'meaning'], given)}

${toDetails(`Statuses: ${Object.keys(responses).join(', ')}`, toTable(['status', 'answer', 'content type'], answers))}

</div>
<div>

${examples.toRequest(path, operation)}

${examples.toAnswer(operation)}

</div>
</div>

`;
}

function toSchema([name, schema]: readonly [string, OpenApiSchema]): string {
  const fields = (schema.properties ?? {}) as Record<string, OpenApiSchema>;
  const rows = Object.entries(fields).map(([field, each]) => [
    code(field),
    toType(each),
    [each.description, each.example === undefined ? undefined : code(JSON.stringify(each.example))]
      .filter((text) => text !== undefined)
      .join(' · '),
  ]);
  const table = toDetails(Object.keys(fields).join(', '), toTable(['field', 'type', 'meaning'], rows));
  return `### ${name}\n\n${rows.length === 0 ? `${toType(schema)}\n\n` : table}`;
}

/** A part that most readers skip, as Markdown: closed until a click. */
const toDetails = (summary: string, content: string): string =>
  content && `<details><summary>${summary}</summary>\n\n${content}\n\n</details>\n\n`;

function toType(schema: OpenApiSchema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace(/^.*\//, '');
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.anyOf) return schema.anyOf.map(toType).join(' or ');
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(' ');
  if (schema.items) return `list of ${toType(schema.items)}`;
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const standard = schema.default === undefined ? '' : `, default ${code(String(schema.default))}`;
  return `${schema.format ? `${type} (${schema.format})` : type}${standard}`;
}

/** The limits of a value, in words. */
function toLimits({ minimum, maximum, minLength, maxLength }: OpenApiSchema): string {
  if (maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  if (maximum !== undefined) return `${minimum} to ${maximum}`;
  return minimum === undefined ? '' : `at least ${minimum}`;
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return `${toRow(head)}${toRow(head.map(() => '---'))}${rows.map(toRow).join('')}`;
}

const code = (text: string): string => `\`${text}\``;

type Content = Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;

const ADDRESS = 'http://localhost:3000';

/** Example requests and answers of operations, from the examples of the schemas. */
class Examples {
  constructor(private readonly schemas: Readonly<Record<string, OpenApiSchema>>) {}

  /** A command, as Markdown. */
  toRequest(path: string, operation: Operation): string {
    const parameters = (operation.parameters ?? []) as { name: string; example?: unknown; schema?: OpenApiSchema }[];
    const examples = new Map(parameters.map(({ name, example, schema }) => [name, example ?? schema?.example]));
    const address = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(examples.get(name) ?? name));
    const content = contentOf(operation);
    const isBoth = content['text/html'] && content['application/json'];
    return fence('sh', `curl${isBoth ? " -H 'Accept: application/json'" : ''} ${ADDRESS}${address}`);
  }

  /** The response to it in JSON, as Markdown; empty if it has none. */
  toAnswer(operation: Operation): string {
    const json = contentOf(operation)['application/json']?.schema;
    return json ? fence('json', JSON.stringify(this.#valueOf(json), null, 2)) : '';
  }

  /** No schema in this document contains itself. */
  #valueOf(schema: OpenApiSchema): unknown {
    const { $ref, example, anyOf, items, properties, enum: words, default: standard, type } = schema;
    if ($ref !== undefined) return this.#valueOf(this.schemas[$ref.replace(/^.*\//, '')] ?? {});
    if (example !== undefined) return example;
    if (anyOf?.[0]) return this.#valueOf(anyOf[0]);
    if (items) return [this.#valueOf(items)];
    if (properties) {
      const fields = Object.entries(properties as Record<string, OpenApiSchema>);
      return Object.fromEntries(fields.map(([name, each]) => [name, this.#valueOf(each)]));
    }
    return words?.[0] ?? standard ?? PLAIN[[type].flat()[0] ?? ''] ?? null;
  }
}

const PLAIN: Readonly<Record<string, unknown>> = { boolean: false, integer: 0, number: 0, string: '', object: {} };

const contentOf = ({ responses }: Operation): Content =>
  (responses['200'] as { content?: Content } | undefined)?.content ?? {};

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
