import type { Problem } from './generated/types.gen.js';

/** The client's own codes. */
type ClientCode = 'network-error' | 'deadline-exceeded' | 'unexpected-answer' | 'snapshot-changing';

/** A code from docs/errors.md or from the client; a newer gateway may have others. */
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
  readonly remedy?: string | null | undefined;
  readonly cause?: unknown;
}

/** The error of a failed call. Branch on `code`, not on the message. */
export class GatewayProblem extends Error {
  override readonly name = 'GatewayProblem';
  readonly code: GatewayProblemCode;
  /** `caller`, `operator`, `network` or `bank`. */
  readonly owner: GatewayProblemOwner;
  /** The HTTP status of the response that is this error; else 0. */
  readonly status: number;
  /** Time to wait before a retry, 250 to 300 000 ms, from `Retry-After`; null without one. */
  readonly retryAfterMs: number | null;
  /** `X-Request-Id` of the response, which finds the line in the gateway's log; null without one. */
  readonly requestId: string | null;
  /** The invalid parameters, for `invalid-request`. */
  readonly errors: readonly { readonly name: string; readonly reason: string }[];
  /** What the owner should do; null if nothing is known. */
  readonly remedy: string | null;

  constructor({ message, code, owner, status, retryAfterMs, requestId, errors, remedy, cause }: ProblemParts) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.owner = owner;
    this.status = status ?? 0;
    this.retryAfterMs = retryAfterMs ?? null;
    this.requestId = requestId ?? null;
    this.errors = errors ?? [];
    this.remedy = remedy ?? null;
  }

  /** Everything except stack and cause, for `JSON.stringify`: in a log line or your own server's response. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** True for a problem from the gateway or this client; if a code is given, only with that code. */
export function isProblem<C extends GatewayProblemCode>(
  error: unknown,
  code?: C,
): error is GatewayProblem & { code: C } {
  // by name, because an app may contain two copies of this module
  return (
    error instanceof Error && error.name === 'GatewayProblem' && (!code || (error as GatewayProblem).code === code)
  );
}

/** The causes of most calls without a response. Scripts cannot tell them apart. */
const CHECK =
  "Check baseUrl with its port, the dev server's proxy, and whether the gateway's CORS_ORIGINS lists this page.";

/**
 * The problem of a call without a response.
 * @param url the address that was tried. The message leaves out its query, which may contain data
 */
export const toNetworkProblem = (cause: unknown, url: string): GatewayProblem =>
  toSilence('network-error', `No response from ${toAddress(url)}. ${CHECK}`, cause);

/** The problem of a call without a result within the deadline; a 503 that is retried is none. */
export const toDeadlineProblem = (cause: unknown, url: string, deadlineMs: number): GatewayProblem =>
  toSilence('deadline-exceeded', `No result within ${deadlineMs} ms from ${toAddress(url)}.`, cause);

const toSilence = (code: ClientCode, message: string, cause: unknown): GatewayProblem =>
  new GatewayProblem({ code, owner: 'network', message, remedy: CHECK, cause });

const toAddress = (url: string): string => url.replace(/\?.*/, '');

/** Statuses of a proxy whose backend is down: 500 from Vite; 502, 503 or 504 from others. */
const AWAY: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** The problem of a response that is not the gateway's JSON, such as a proxy's HTML page. */
export function toUnexpectedAnswer({ status, headers }: Response, cause?: unknown): GatewayProblem {
  const why = AWAY.has(status)
    ? 'It came from a proxy, or the gateway is not running.'
    : "It is not the gateway's JSON: check baseUrl and the proxies.";
  return new GatewayProblem({
    code: 'unexpected-answer',
    owner: 'network',
    message: `Unexpected response (status ${status}). ${why}`,
    status,
    retryAfterMs: readRetryAfter(headers),
    requestId: headers.get('X-Request-Id'),
    cause,
  });
}

/** Reads the problem from the body of a response other than 200 and 304. */
export async function readProblem(response: Response): Promise<GatewayProblem> {
  const { status, headers } = response;
  const isDocument = headers.get('Content-Type')?.startsWith('application/problem+json');
  if (!isDocument) await response.body?.cancel();
  const problem = isDocument ? toProblem(await response.json().catch(() => null)) : null;
  if (!problem) return toUnexpectedAnswer(response);
  const { code, owner, detail, title, errors, remedy } = problem;
  return new GatewayProblem({
    code,
    owner: owner ?? 'operator',
    message: detail ?? title ?? code,
    status,
    retryAfterMs: readRetryAfter(headers),
    requestId: problem.requestId ?? headers.get('X-Request-Id'),
    remedy,
    ...(Array.isArray(errors) && { errors }),
  });
}

function toProblem(body: unknown): (Pick<Problem, 'code'> & Partial<Problem>) | null {
  if (typeof body !== 'object' || body === null || !('code' in body) || typeof body.code !== 'string') return null;
  return body as Pick<Problem, 'code'> & Partial<Problem>;
}

/**
 * Bounds of a `Retry-After`: a proxy's `0` must not cause a flood of calls, and the gateway itself never asks for more
 * than the maximum. A timer set to a year fires at once.
 */
const [LEAST_RETRY_MS, MOST_RETRY_MS] = [250, 300_000];

/**
 * Parses a Retry-After (RFC 9110 §10.2.3), in seconds or as a date, to milliseconds; null if it is missing or invalid.
 */
function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('Retry-After')?.trim();
  if (!value) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, LEAST_RETRY_MS), MOST_RETRY_MS);
}
