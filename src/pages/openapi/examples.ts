import type { OpenAPIObject } from '@nestjs/swagger';
import type { OpenApiSchema } from '../../representation/schemas.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Content = Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;

const ADDRESS = 'http://localhost:3000';

/** Example requests and answers of operations, from the examples of the schemas. */
export class Examples {
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

  /** The answer to it in JSON, as Markdown; empty if it has none. */
  toAnswer(operation: Operation): string {
    const json = contentOf(operation)['application/json']?.schema;
    return json ? fence('json', JSON.stringify(this.#valueOf(json), null, 2)) : '';
  }

  /** No schema of this document contains itself. */
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
