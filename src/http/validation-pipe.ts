import { StandardSchemaValidationPipe } from '@nestjs/common';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { GatewayError } from '../problems/gateway-error.js';

/** Checks what callers send by the schema of the route; what it refuses is an `invalid-request` that names each fault. */
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({ exceptionFactory: toInvalidRequest });
  }

  /** Nest drops `__proto__`, `constructor` and `prototype` silently; here they are refused by name like any unknown parameter. */
  protected override stripProtoKeys(): void {
    // the schemas are strict, and a query has no prototype (parse-query.ts)
  }
}

/** The problem for parameters that a schema refused; each is named as the caller wrote it. */
export function toInvalidRequest(issues: readonly StandardSchemaV1.Issue[]): GatewayError {
  const errors = issues.flatMap((issue) => {
    const unknown = (issue as { keys?: readonly string[] }).keys;
    if (unknown) return unknown.map((name) => ({ name: toShown(name), reason: 'is not a parameter of this route' }));
    const name = issue.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') ?? '';
    return [{ name: toShown(name), reason: issue.message }];
  });
  const detail = errors.map(({ name, reason }) => `${name} ${reason}`).join('; ');
  return new GatewayError('invalid-request', `${detail}.`, { errors });
}

const toShown = (name: string) => (name.length > 60 ? `${name.slice(0, 60)}…` : name);
