import type * as Jest from '@jest/globals';

/** Stands for `@jest/globals`: what the runner sets in the process. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } =
  globalThis as unknown as typeof Jest;
