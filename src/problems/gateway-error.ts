import { PROBLEMS, type Owner, type ProblemCode } from './problem-table.js';

/** What an error may say beyond its code and sentence. */
export interface GatewayErrorOptions {
  readonly cause?: unknown;
  /** Where the table's owner is not the one: a 5xx of the bank is the bank's, a refused connection the network's. */
  readonly owner?: Owner;
  /** Where one code has several statuses (413, 414, 431). */
  readonly status?: number;
  /** Milliseconds until it makes sense to ask again. */
  readonly retryAfterMs?: number | undefined;
  /** The parameters at fault, for `invalid-request`. */
  readonly errors?: readonly { readonly name: string; readonly reason: string }[] | undefined;
  /** Response headers that belong to the problem, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The one error that crosses room borders: a code of the table (problem-table.ts) and a sentence for people. The sentence never holds
 * a value that came from the bank, a proxy or a secret; `cause` stays inside the process.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly owner: Owner;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly errors: GatewayErrorOptions['errors'];
  readonly headers: GatewayErrorOptions['headers'];

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    options: GatewayErrorOptions = {},
  ) {
    super(detail, { cause: options.cause });
    this.owner = options.owner ?? PROBLEMS[code].owner;
    this.status = options.status ?? PROBLEMS[code].status;
    this.retryAfterMs = options.retryAfterMs;
    this.errors = options.errors;
    this.headers = options.headers;
  }

  /** Whether it stays until someone acts: then it is logged as an error (docs/operations.md#logs). */
  get needsSomeone(): boolean {
    return this.owner === 'operator' || this.code === 'access-not-granted' || this.code === 'proxy-refused';
  }

  /** The same problem, to be tried again in `retryAfterMs` milliseconds. */
  waiting(retryAfterMs: number): GatewayError {
    const { cause, owner, status, errors, headers } = this;
    return new GatewayError(this.code, this.detail, { cause, owner, status, retryAfterMs, errors, headers });
  }
}

/** Whatever was thrown, as a `GatewayError`; anything unforeseen becomes `internal-error`. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal-error', 'An unforeseen fault; see the log for this request id.', { cause: thrown });
}

/** The code of what `work` throws; null when it throws nothing. */
export function codeOf(work: () => unknown): ProblemCode | null {
  try {
    work();
    return null;
  } catch (thrown) {
    return toGatewayError(thrown).code;
  }
}
