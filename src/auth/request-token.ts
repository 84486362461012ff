import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Egress, EgressParts } from '../egress/egress.js';
import type { Answer } from '../egress/wire-client.js';
import { GatewayError } from '../errors/gateway-error.js';
import { toAccessToken, type AccessToken } from './access-token-provider.js';
import type { IdentityMaterial } from './identity-material.js';

const AUTHORIZE_PATH = '/api/v1/authorizations/authorize';

const DEFAULT_LIFETIME_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 86_400;
/** Small, because the answer is parsed on the serving thread, where 32 MB of empty objects would fill the heap. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_TOKEN_LENGTH = 16_384;

/**
 * Requests an access token (docs/bank.md#token-endpoint). The certificate must be valid.
 * @throws GatewayError as `Egress.get` and `readTokenAnswer`, or the reason of `signal`
 */
export async function requestToken(
  egress: Pick<Egress, 'get'>,
  { username, password }: Pick<IdentityMaterial, 'username' | 'password'>,
  { settings, clock, logger }: Pick<EgressParts, 'settings' | 'clock' | 'logger'>,
  signal?: AbortSignal,
): Promise<AccessToken> {
  const requestedAt = clock.now();
  const basic = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  const answer = await egress.get({
    target: 'token',
    baseUrl: settings.BANK_AUTH_URL,
    path: AUTHORIZE_PATH,
    headers: { 'Content-Type': 'application/json', Authorization: `Basic ${basic}`, 'X-Request-Id': randomUUID() },
    ...(signal && { signal }),
  });
  const { value, lifetimeSeconds } = readTokenAnswer(answer);
  if (lifetimeSeconds === null) {
    logger.warn(
      { event: 'token.lifetime-unknown' },
      `expires_in of the token cannot be used; assuming ${DEFAULT_LIFETIME_SECONDS} s`,
    );
  }
  return toAccessToken(value, (lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS) * 1000, requestedAt);
}

const tokenAnswerSchema = z.object(
  {
    access_token: z
      .string('is missing or not a string')
      .trim()
      .min(1, 'is empty')
      .max(MAX_TOKEN_LENGTH, 'is too long')
      // characters allowed in a header; axios would silently drop all others
      .regex(/^[A-Za-z0-9._~+/=-]+$/, 'contains characters that are not allowed in a bearer token'),
    token_type: z
      .string('is not a string')
      .regex(/^bearer$/i, 'is not Bearer')
      .nullish(),
    // accepts any value: an unusable one counts as an unknown lifetime
    expires_in: z.unknown().optional().transform(toLifetimeSeconds),
  },
  'is not a JSON object',
);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The lifetime is null if `expires_in` cannot be used. @throws GatewayError bank-response-invalid, or as `toAnswerError` */
function readTokenAnswer(answer: Answer) {
  if (answer.error) throw answer.error;
  const { success, error, data } = tokenAnswerSchema.safeParse(parse(answer.body));
  if (!success) {
    const [issue] = error.issues;
    throw invalid(`${issue?.path[0] ? String(issue.path[0]) : 'it'} ${issue?.message}`);
  }
  return { value: data.access_token, lifetimeSeconds: data.expires_in };
}

function parse(body: Buffer): unknown {
  if (body.length > MAX_ANSWER_BYTES) throw invalid(`it is larger than ${MAX_ANSWER_BYTES} bytes`);
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw invalid('it is not JSON');
  }
}

/** Names the invalid field, never its value. */
const invalid = (problem: string) =>
  new GatewayError('bank-response-invalid', `The answer of the token endpoint cannot be used: ${problem}.`);

/** `expires_in`, a string or a number: whole seconds from 1 to 86400 (" 300" and "300.0" are 300), else null. */
function toLifetimeSeconds(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const text = String(value).trim();
  if (!/^\d{1,9}(\.0+)?$/.test(text)) return null;
  const seconds = Number(text);
  return seconds >= 1 && seconds <= MAX_LIFETIME_SECONDS ? seconds : null;
}
