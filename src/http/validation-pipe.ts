import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { distance } from 'fastest-levenshtein';
import { GatewayError } from '../problems/gateway-error.js';

const SHOWN_LENGTH = 60;

/**
 * Checks parameters against the schema of the route. Unlike Nest's StandardSchemaValidationPipe, it awaits nothing for a
 * synchronous schema, and refuses `__proto__` by name like any unknown parameter.
 */
export class ValidationPipe implements PipeTransform {
  /** @throws GatewayError invalid-request, naming each wrong parameter */
  transform(value: unknown, { schema }: ArgumentMetadata): unknown {
    if (!schema) return value;
    const assertValid = (result: StandardSchemaV1.Result<unknown>) => {
      if (result.issues) throw toInvalidRequest(result.issues, namesOf(schema));
      return result.value;
    };
    const result = schema['~standard'].validate(value);
    return result instanceof Promise ? result.then(assertValid) : assertValid(result);
  }
}

/** The problem for parameters that a schema refused; each is named as the caller wrote it, with what may have been meant. */
export function toInvalidRequest(issues: readonly StandardSchemaV1.Issue[], known: readonly string[]): GatewayError {
  const errors = issues.flatMap((issue) => {
    const unknown = (issue as { keys?: readonly string[] }).keys;
    if (unknown) {
      return unknown.map((name) => ({
        name: toShown(name),
        reason: `is not a parameter of this route${toHint(name, known)}`,
      }));
    }
    const name = issue.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') ?? '';
    return [{ name: toShown(name), reason: issue.message }];
  });
  const detail = errors.map(({ name, reason }) => `${name} ${reason}`).join('; ');
  return new GatewayError('invalid-request', detail.endsWith('?') ? detail : `${detail}.`, { errors });
}

const toShown = (name: string) => (name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name);

/** Known names that contain the given one (`size`, `page`), else those it may be a misspelling of. */
function toHint(name: string, known: readonly string[]): string {
  const given = name.toLowerCase();
  if (given.length < 3 || given.length > SHOWN_LENGTH) return '';
  const holding = known.filter((each) => each.toLowerCase().includes(given));
  const slips = Math.min(2, Math.floor(given.length / 3));
  const meant = holding.length > 0 ? holding : known.filter((each) => distance(given, each.toLowerCase()) <= slips);
  return meant.length === 0 ? '' : `; did you mean ${meant.join(' or ')}?`;
}

const names = new WeakMap<StandardSchemaV1, readonly string[]>();

/** The parameters of a schema; empty if they cannot be determined. */
function namesOf(schema: StandardSchemaV1): readonly string[] {
  let known = names.get(schema);
  if (known === undefined) {
    const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>;
    const { properties = {} } = jsonSchema?.input({ target: 'draft-2020-12' }) ?? {};
    names.set(schema, (known = Object.keys(properties as object)));
  }
  return known;
}
