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
  /** @throws GatewayError invalid-request, naming each wrong parameter */
  transform(value: unknown, { schema }: ArgumentMetadata): unknown {
    if (!schema) return value;
    const result = schema['~standard'].validate(value);
    return result instanceof Promise ? result.then(assertValid) : assertValid(result);
  }
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
