import { StandardSchemaValidationPipe } from '@nestjs/common';
import { toInvalidRequest } from './to-invalid-request.js';

/** Judges what callers send by the schema of the route; what it refuses is an `invalid-request` that names each fault. */
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({ exceptionFactory: toInvalidRequest });
  }

  /** Nest drops `__proto__`, `constructor` and `prototype` unseen; here they are refused by name like any unknown parameter. */
  protected override stripProtoKeys(): void {
    // the schemas are strict, and a query has no prototype (parse-query.ts)
  }
}
