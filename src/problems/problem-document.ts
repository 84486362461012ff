import { z } from 'zod';
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from './problem-table.js';
import type { GatewayError } from './gateway-error.js';

export const problemSchema = z
  .object({
    type: z.string().meta({ example: '/problems/bank-timeout' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().describe('the path of the request, without its query'),
    code: z.enum(PROBLEM_CODES as [ProblemCode, ...ProblemCode[]]),
    owner: z.enum(['caller', 'operator', 'network', 'bank']).describe('who must act'),
    requestId: z.string(),
    errors: z
      .array(z.object({ name: z.string(), reason: z.string() }))
      .optional()
      .describe('with invalid-request: the parameters at fault'),
  })
  .meta({ id: 'Problem' });

export type ProblemDocument = z.infer<typeof problemSchema>;

/** Seconds for Retry-After where only a person can help (docs/errors.md). */
const RETRY_AFTER_DEFAULT_SECONDS = 30;
const RETRY_AFTER_MAX_SECONDS = 300;

/** The body of an error answer (RFC 9457). `instance` is the request's path without query. */
export function toProblemDocument(error: GatewayError, instance: string, requestId: string): ProblemDocument {
  return {
    type: `/problems/${error.code}`,
    title: PROBLEMS[error.code].title,
    status: error.status,
    detail: error.detail,
    instance,
    code: error.code,
    owner: error.owner,
    requestId,
    ...(error.errors && { errors: [...error.errors] }),
  };
}

/** The headers of an error answer; `Retry-After` (whole seconds, at most 300) on every 503. */
export function toProblemHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    ...error.headers,
  };
  if (error.status === 503) {
    const seconds =
      error.retryAfterMs === undefined ? RETRY_AFTER_DEFAULT_SECONDS : Math.ceil(error.retryAfterMs / 1000);
    headers['retry-after'] = String(Math.min(Math.max(seconds, 1), RETRY_AFTER_MAX_SECONDS));
  }
  return headers;
}
