import type { OpenAPIObject } from '@nestjs/swagger';
import type { OpenApiSchema } from '../../representation/schemas.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const ADDRESS = 'http://localhost:3000';
/** Deeper values are left out: no schema of this document is nested further. */
const DEEPEST = 12;

/** Example requests and answers of operations, from the examples of the schemas. */
export class Examples {
  constructor(private readonly schemas: Readonly<Record<string, OpenApiSchema>>) {}

  /** A command, as Markdown. */
  toRequest(path: string, operation: Operation): string {
    const { parameters = [] } = operation;
    const content = contentOf(operation);
    const values = parameters.map(
      (each) => each as { name: string; in: string; example?: unknown; schema?: OpenApiSchema },
    );
    const address = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
      const found = values.find((each) => each.name === name);
      return String(found?.example ?? found?.schema?.example ?? name);
    });
    const isBoth = content['text/html'] && content['application/json'];
    return fence('sh', `curl${isBoth ? " -H 'Accept: application/json'" : ''} ${ADDRESS}${address}`);
  }

  /** The answer to it in JSON, as Markdown; empty if it has none. */
  toAnswer(operation: Operation): string {
    const json = contentOf(operation)['application/json']?.schema;
    return json ? fence('json', JSON.stringify(this.#valueOf(json), null, 2)) : '';
  }

  #valueOf(schema: OpenApiSchema, depth = 0): unknown {
    if (depth > DEEPEST) return null;
    if (schema.$ref !== undefined) {
      const target = this.schemas[schema.$ref.replace(/^.*\//, '')];
      return target ? this.#valueOf(target, depth + 1) : null;
    }
    if (schema.example !== undefined) return schema.example;
    const [option] = schema.anyOf ?? [];
    if (option) return this.#valueOf(option, depth + 1);
    if (schema.items) return [this.#valueOf(schema.items, depth + 1)];
    if (schema.properties) {
      const fields = Object.entries(schema.properties as Record<string, OpenApiSchema>);
      return Object.fromEntries(fields.map(([name, each]) => [name, this.#valueOf(each, depth + 1)]));
    }
    return toPlain(schema);
  }
}

type Content = Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;

const contentOf = ({ responses }: Operation): Content =>
  (responses['200'] as { content?: Content } | undefined)?.content ?? {};

function toPlain({ enum: words, type, default: standard }: OpenApiSchema): unknown {
  if (words) return words[0];
  if (standard !== undefined) return standard;
  const plain: Readonly<Record<string, unknown>> = { boolean: false, integer: 0, number: 0, string: '', object: {} };
  return plain[[type].flat()[0] ?? ''] ?? null;
}

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
