import { z } from 'zod';
import { nameOf, toAnswerError } from '../egress/answer-error.js';
import { toText } from '../egress/answer.js';
import type { WireAnswer } from '../egress/wire-client.js';
import { GatewayError } from '../problems/gateway-error.js';

/** It is parsed on the serving thread: 32 MB of empty objects would take the whole heap. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_TOKEN_LENGTH = 16_384;
const MAX_LIFETIME_SECONDS = 86_400;

const tokenAnswerSchema = z.object({
  access_token: z
    .string('is missing or not a string')
    .min(1, 'is empty')
    .max(MAX_TOKEN_LENGTH, 'is too long')
    // what may stand in a header; axios would clean other characters away silently
    .regex(/^[A-Za-z0-9._~+/=-]+$/, 'contains characters that are not allowed in a bearer token'),
  token_type: z
    .string('is not a string')
    .regex(/^bearer$/i, 'is not Bearer')
    .nullish(),
  // any value: without a usable one, the lifetime is unknown
  expires_in: z.unknown().optional(),
});

/**
 * Reads the answer of the token endpoint (docs/bank.md#token-endpoint). The lifetime is null if `expires_in` cannot be used.
 * @throws GatewayError as `toAnswerError`, bank-response-invalid
 */
export function readTokenAnswer(answer: WireAnswer, nowWallMs: number) {
  const refusal = toAnswerError(answer, 'token', nowWallMs);
  if (refusal) throw refusal;
  const body = Buffer.concat(answer.pieces);
  if (body.length > MAX_ANSWER_BYTES) {
    throw new GatewayError(
      'bank-response-invalid',
      `The answer of the token endpoint is larger than ${MAX_ANSWER_BYTES} bytes.`,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(toText(body, nameOf('token')));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('bank-response-invalid', 'The response from the token endpoint is not JSON.');
  }
  const result = tokenAnswerSchema.safeParse(json);
  if (!result.success) {
    const issue = result.error.issues[0];
    const place = issue?.path.join('.');
    throw new GatewayError(
      'bank-response-invalid',
      place
        ? `In the response from the token endpoint, ${place} ${issue?.message}.`
        : 'The response from the token endpoint is not a JSON object.',
    );
  }
  const { access_token: value, expires_in: lifetime } = result.data;
  return { value, lifetimeSeconds: toLifetimeSeconds(lifetime) };
}

/** `expires_in` as text or number: whole seconds from 1 to 86400 (" 300" and "300.0" are 300), else null. */
export function toLifetimeSeconds(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  if (!/^\d{1,9}(\.0+)?$/.test(text)) return null;
  const seconds = Number(text);
  return seconds >= 1 && seconds <= MAX_LIFETIME_SECONDS ? seconds : null;
}
