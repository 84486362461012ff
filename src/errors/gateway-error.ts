import { PROBLEMS, type Owner, type ProblemCode } from './problem-table.js';

/** From a failed answer, for the bank's service desk (egress/bank-reference.ts); never for callers. */
export interface BankReference {
  readonly bankCode?: string | undefined;
  readonly bankTraceId?: string | undefined;
}

export interface GatewayErrorOptions {
  readonly cause?: unknown;
  /** Default: that of the code. Some codes have several: 413, 414, 431. */
  readonly status?: number;
  /** Default: that of the code. `proxy-refused` with a 407 belongs to the operator. */
  readonly owner?: Owner;
  /** HTTP status of the bank's response, for /health. */
  readonly upstreamStatus?: number | undefined;
  readonly bankReference?: BankReference | undefined;
  /** True if the bank or the proxy rejected who we are, so that retries may lock the user. Default: by the code. */
  readonly isRejection?: boolean;
  /** True if the bank asked us to wait: 429, or 503 with `Retry-After`. */
  readonly isAskedToWait?: boolean;
  /** Milliseconds to wait before a retry. */
  readonly retryAfterMs?: number | undefined;
  /** The wrong parameters, for `invalid-request`. */
  readonly errors?: readonly { readonly name: string; readonly reason: string }[] | undefined;
  /** Response headers that belong to the problem, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const REJECTIONS: ReadonlySet<ProblemCode> = new Set([
  'credentials-rejected',
  'certificate-rejected',
  'address-not-allowed',
]);

/**
 * The error that callers, logs and health see: a code of problem-table.ts and a sentence for people, without a secret or
 * a value from a body. Callers never see `cause`.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly owner: Owner;
  readonly status: number;
  readonly upstreamStatus: number | undefined;
  readonly bankReference: BankReference | undefined;
  readonly isRejection: boolean;
  readonly isAskedToWait: boolean;
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
    this.upstreamStatus = options.upstreamStatus;
    this.bankReference = options.bankReference;
    this.isRejection = options.isRejection ?? REJECTIONS.has(code);
    this.isAskedToWait = options.isAskedToWait ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.errors = options.errors;
    this.headers = options.headers;
  }

  /** True if it is logged as an error: the operator must act, or it stays until the bank or the network team does. */
  get needsSomeone(): boolean {
    return this.owner === 'operator' || this.code === 'access-not-granted' || this.code === 'proxy-refused';
  }

  get fields() {
    const { code, owner, detail } = this;
    return { code, owner, detail, ...this.bankReference };
  }

  withSentence(sentence: string): GatewayError {
    return new GatewayError(this.code, `${this.detail} ${sentence}`, { ...this, cause: this.cause });
  }

  withRetryAfter(retryAfterMs: number): GatewayError {
    return new GatewayError(this.code, this.detail, { ...this, cause: this.cause, retryAfterMs });
  }
}

/** The thrown value as a `GatewayError`; anything unexpected becomes `internal-error`. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const detail = 'An internal error; the log has the details under this request id.';
  return new GatewayError('internal-error', detail, { cause: thrown });
}
