import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { GatewayError } from '../errors/gateway-error.js';

const SHOWN_LENGTH = 60;

type Schema = NonNullable<ArgumentMetadata['schema']>;
type Result = Awaited<ReturnType<Schema['~standard']['validate']>>;
type Issues = NonNullable<Result['issues']>;

/**
 * Checks parameters against the schema of the route. Unlike Nest's StandardSchemaValidationPipe, it awaits nothing for a
 * synchronous schema, and refuses `__proto__` by name like any unknown parameter.
 */
export class ValidationPipe implements PipeTransform {
  /** Valid queries by schema, by the object that query-parser.ts returns for the same query string. */
  readonly #valid = new WeakMap<Schema, WeakMap<object, unknown>>();

  /** @throws GatewayError invalid-request, naming each wrong parameter */
  transform(value: unknown, { schema, type }: ArgumentMetadata): unknown {
    if (!schema) return value;
    const isRemembered = type === 'query' && typeof value === 'object' && value !== null && Object.isFrozen(value);
    return isRemembered ? this.#transformOnce(value, schema) : validate(value, schema);
  }

  #transformOnce(query: object, schema: Schema): unknown {
    const known = this.#valid.get(schema)?.get(query);
    if (known !== undefined) return known;
    const result = validate(query, schema);
    const valid = this.#valid.get(schema) ?? new WeakMap<object, unknown>();
    // it is shared by all requests with this query
    this.#valid.set(schema, valid.set(query, Object.freeze(result)));
    return result;
  }
}

/** @throws GatewayError invalid-request */
function validate(value: unknown, schema: Schema): unknown {
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(assertValid) : assertValid(result);
}

/** @throws GatewayError invalid-request */
function assertValid(result: Result): unknown {
  if (result.issues) throw toInvalidRequest(result.issues);
  return result.value;
}

/** The problem for parameters that a schema refused; each is named as the caller wrote it. */
export function toInvalidRequest(issues: Issues): GatewayError {
  const errors = issues.flatMap((issue) => {
    const unknown = (issue as { keys?: readonly string[] }).keys;
    if (unknown) {
      return unknown.map((name) => ({ name: toShown(name), reason: 'is not a parameter of this route (see /docs)' }));
    }
    const name = issue.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') ?? '';
    return [{ name: toShown(name), reason: issue.message }];
  });
  const detail = errors.map(({ name, reason }) => `${name} ${reason}`).join('; ');
  return new GatewayError('invalid-request', `${detail}.`, { errors });
}

const toShown = (name: string) => (name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name);
