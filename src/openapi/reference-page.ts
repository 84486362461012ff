import type { OpenAPIObject } from '@nestjs/swagger';
import { escapeHtml, toHtmlPage } from '../guide/html-page.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = Extract<NonNullable<Operation['parameters']>[number], { name: string }>;

/** The parts of a JSON Schema that the page shows. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
}

/** The API as a page for people: each route with a link that calls it, then each schema. */
export function toReferencePage(document: OpenAPIObject): string {
  const routes = Object.entries(document.paths).flatMap(([path, { get }]) => (get ? [toRoute(path, get)] : []));
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    toSchema(name, schema as Schema),
  );
  return toHtmlPage(
    'API reference',
    `<h1>API reference</h1>
${toParagraphs(document.info.description ?? '')}
<p>Version ${escapeHtml(document.info.version)} · <a href="/openapi.json">OpenAPI document</a> · <a href="/docs/guide/api">how to use it</a></p>
${routes.join('\n')}
<h2>Schemas</h2>
${schemas.join('\n')}`,
  );
}

function toRoute(path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).filter((each): each is Parameter => 'name' in each);
  // a link can only call a route whose address is complete
  const call = path.includes('{') ? '' : ` · <a href="${escapeHtml(path)}">call it</a>`;
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const { description = '', content = {} } = response as { description?: string; content?: Record<string, unknown> };
    return [code(status), toInline(description), Object.keys(content).map(code).join(' ')];
  });
  return `<h2 id="${escapeHtml(operation.operationId ?? path)}">GET ${escapeHtml(path)}</h2>
<p>${toInline(operation.summary ?? '')}${call}</p>
${toParagraphs(operation.description ?? '')}
${parameters.length === 0 ? '' : toTable(['parameter', 'value', 'meaning'], parameters.map(toParameter))}
${toTable(['status', 'answer', 'content type'], answers)}`;
}

function toParameter({ name, description, schema }: Parameter): string[] {
  return [code(name), toType(schema as Schema), toInline(description ?? (schema as Schema).description ?? '')];
}

function toSchema(name: string, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, each]) => [
    code(field),
    toType(each),
    [each.description ?? '', each.example === undefined ? '' : `\`${JSON.stringify(each.example)}\``]
      .filter((text) => text !== '')
      .map(toInline)
      .join(' · '),
  ]);
  const fields = rows.length === 0 ? `<p>${toType(schema)}</p>` : toTable(['field', 'type', 'meaning'], rows);
  return `<h3 id="schema-${name}">${escapeHtml(name)}</h3>\n${fields}`;
}

function toType(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = escapeHtml(schema.$ref.replace(/^.*\//, ''));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf) return schema.anyOf.map(toType).join(' or ');
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(' ');
  if (schema.items) return `list of ${toType(schema.items)}`;
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const standard = schema.default === undefined ? '' : `, default ${code(String(schema.default))}`;
  return `${escapeHtml(schema.format ? `${type} (${schema.format})` : type)}${standard}`;
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table>${toRow('th', head)}${rows.map((row) => toRow('td', row)).join('')}</table></div>`;
}

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** Text between backticks is code. */
const toInline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');

const toParagraphs = (text: string): string =>
  text
    .split('\n\n')
    .filter((each) => each !== '')
    .map((each) => `<p>${toInline(each)}</p>`)
    .join('\n');
