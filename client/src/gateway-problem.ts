import type { Problem } from './generated/types.gen.js';

/** The client's own codes, for calls that got no response from the gateway. */
type ClientCode = 'network-error' | 'deadline-exceeded' | 'unexpected-answer' | 'snapshot-changing';

/** A code of docs/errors.md or of the client; a newer gateway may have others. */
export type GatewayProblemCode = Problem['code'] | ClientCode | (string & {});

/** The party who must act; a newer gateway may name others. */
export type GatewayProblemOwner = Problem['owner'] | (string & {});

interface ProblemParts {
  readonly code: GatewayProblemCode;
  readonly owner: GatewayProblemOwner;
  readonly message: string;
  readonly status?: number;
  readonly retryAfterMs?: number | null;
  readonly requestId?: string | null;
  readonly errors?: Problem['errors'];
  readonly cause?: unknown;
}

/** Thrown by every failed call, except when the caller aborts it. Decide by `code`; the rest is for people. */
export class GatewayProblem extends Error {
  override readonly name = 'GatewayProblem';
  readonly code: GatewayProblemCode;
  /** `caller`, `operator`, `network` or `bank`. */
  readonly owner: GatewayProblemOwner;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** Time to wait before a retry, 250 to 300 000 ms, from `Retry-After`; null without one. */
  readonly retryAfterMs: number | null;
  /** Finds the line in the log of the gateway; null when no gateway answered. */
  readonly requestId: string | null;
  /** With `invalid-request`: the wrong parameters. */
  readonly errors: readonly { readonly name: string; readonly reason: string }[];

  constructor({ message, code, owner, status, retryAfterMs, requestId, errors, cause }: ProblemParts) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.owner = owner;
    this.status = status ?? 0;
    this.retryAfterMs = retryAfterMs ?? null;
    this.requestId = requestId ?? null;
    this.errors = errors ?? [];
  }

  /** Everything but stack and cause, for `JSON.stringify`: a log line, or the answer of your own server. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** True for a problem of the gateway or of this client, with this code if one is given. */
export function isProblem<C extends GatewayProblemCode>(
  error: unknown,
  code?: C,
): error is GatewayProblem & { code: C } {
  // by name: an app may have two copies of this module
  return (
    error instanceof Error && error.name === 'GatewayProblem' && (!code || (error as GatewayProblem).code === code)
  );
}

/** The problem of a call that had no answer: refused, no DNS, cut off, or not allowed by CORS, which no script can tell apart. */
export const toNetworkProblem = (cause: unknown): GatewayProblem =>
  new GatewayProblem({ code: 'network-error', owner: 'network', message: 'The gateway cannot be reached.', cause });

/** The problem of an answer that the gateway did not give, or that is not what was asked for: a page of a proxy, for example. */
export const toUnexpectedAnswer = (response: Response, message: string, cause?: unknown): GatewayProblem =>
  new GatewayProblem({
    code: 'unexpected-answer',
    owner: 'network',
    message,
    status: response.status,
    retryAfterMs: readRetryAfter(response.headers),
    requestId: response.headers.get('X-Request-Id'),
    cause,
  });

/** Statuses of a proxy whose server is away: 500 from Vite, 502, 503 or 504 from others. */
const AWAY: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** The problem in an answer other than 2xx and 304. Reads its body. */
export async function readProblem(response: Response): Promise<GatewayProblem> {
  const { status, headers } = response;
  const isDocument = headers.get('Content-Type')?.startsWith('application/problem+json');
  if (!isDocument) await response.body?.cancel();
  const problem = isDocument ? toProblem(await response.json().catch(() => null)) : null;
  if (!problem) {
    const why = AWAY.has(status) ? ' It came from a proxy, or the gateway is not running.' : '';
    return toUnexpectedAnswer(response, `Unexpected response (status ${status}).${why}`);
  }
  const { code, owner, detail, title, errors } = problem;
  return new GatewayProblem({
    code,
    owner: owner ?? 'operator',
    message: detail ?? title ?? code,
    status,
    retryAfterMs: readRetryAfter(headers),
    requestId: problem.requestId ?? headers.get('X-Request-Id'),
    ...(Array.isArray(errors) && { errors }),
  });
}

function toProblem(body: unknown): (Pick<Problem, 'code'> & Partial<Problem>) | null {
  if (typeof body !== 'object' || body === null || !('code' in body) || typeof body.code !== 'string') return null;
  return body as Pick<Problem, 'code'> & Partial<Problem>;
}

/**
 * Bounds of a `Retry-After`: a proxy's `0` must not cause a flood, and the gateway itself never asks for more than the maximum.
 * A timer set to a year fires at once.
 */
const [LEAST_RETRY_MS, MOST_RETRY_MS] = [250, 300_000];

/** Milliseconds of a Retry-After (RFC 9110 §10.2.3), in seconds or as a date; null without a proper one. */
function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('Retry-After')?.trim();
  if (!value) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, LEAST_RETRY_MS), MOST_RETRY_MS);
}
