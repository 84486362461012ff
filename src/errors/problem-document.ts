import { z } from 'zod';
import { ALL_CODES, OWNERS, PROBLEMS, remedyOf, toPlainText, type AnyCode, type Problem } from './problem-table.js';
import { GatewayError } from './gateway-error.js';

const codeSchema = z.enum(ALL_CODES as [AnyCode, ...AnyCode[]]).meta({
  id: 'ProblemCode',
  description: 'what went wrong; decide by this',
  example: 'bank-timeout',
});
const ownerSchema = z.enum(OWNERS).meta({ id: 'ProblemOwner', description: 'who must act', example: 'bank' });
const parameterSchema = z
  .object({
    name: z.string().meta({ example: 'pageSize' }),
    reason: z.string().meta({ example: 'must be at most 1000' }),
  })
  .meta({ id: 'ParameterError' });

/** Fields of a problem that other responses reuse in their schemas. */
export const troubleShape = { code: codeSchema, owner: ownerSchema, detail: z.string() };

/** A code's entry in the table of errors, as /problems returns it. */
export function toProblemEntry(code: AnyCode) {
  const { steps, request, heals, ...entry }: Problem = PROBLEMS[code];
  const advice = { remedy: remedyOf(code), steps: steps.map(toPlainText) };
  return { code, ...entry, ...advice, request: request ?? null, heals: heals ?? false };
}

export const problemEntrySchema = z
  .object({
    code: codeSchema,
    status: z.int().min(400).max(599).nullable().describe('null for a code that no problem document has'),
    owner: ownerSchema,
    title: z.string(),
    when: z.string(),
    remedy: z.string().describe('the first step'),
    steps: z.array(z.string()).describe('what to do, in order'),
    request: z.string().nullable().describe('what to ask the bank or the network team'),
    heals: z.boolean().describe('it may end although nobody acts'),
  })
  .meta({ id: 'ProblemEntry', example: toProblemEntry('bank-timeout') });

export const problemListSchema = z.array(problemEntrySchema).meta({ id: 'ProblemList' });

const EXAMPLE = new GatewayError(
  'bank-timeout',
  'The bank sent no complete list within 15000 ms (REQUEST_DEADLINE_MS); the refresh continues.',
);

/** The body of an error response (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.string().describe('the page of the code'),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe('a sentence for people'),
    remedy: z.string().describe('what to do first, for the owner'),
    instance: z.string().describe('the path of the request, without its query; `/` if it cannot be parsed'),
    code: codeSchema,
    owner: ownerSchema,
    requestId: z.string().describe('finds the log line'),
    errors: z.array(parameterSchema).optional().describe('with `invalid-request`: the wrong parameters'),
  })
  .meta({
    id: 'Problem',
    example: toProblemDocument(EXAMPLE, '/api/v1/accounts', '8ec19755-b535-4e79-b06c-11d12898fbe0'),
  });

export type ProblemDocument = ReturnType<typeof toProblemDocument>;

/** For a 503 whose error has no time. */
const RETRY_AFTER_DEFAULT_MS = 30_000;
const RETRY_AFTER_MAX_SECONDS = 300;

export function toProblemDocument(error: GatewayError, instance: string, requestId: string) {
  return {
    type: `/problems/${error.code}`,
    title: PROBLEMS[error.code].title,
    status: error.status,
    detail: error.detail,
    remedy: remedyOf(error.code),
    instance,
    code: error.code,
    owner: error.owner,
    requestId,
    ...(error.errors && { errors: [...error.errors] }),
  };
}

/** The headers of an error response. `Retry-After` is on every 503 and on every error with `retryAfterMs`. */
export function toProblemHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    ...error.headers,
  };
  if (error.status === 503 || error.retryAfterMs !== undefined) {
    const seconds = Math.ceil((error.retryAfterMs ?? RETRY_AFTER_DEFAULT_MS) / 1000);
    headers['retry-after'] = String(Math.min(Math.max(seconds, 1), RETRY_AFTER_MAX_SECONDS));
  }
  return headers;
}
