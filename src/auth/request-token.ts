import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import type { Egress } from '../egress/egress.js';
import { codeOf } from '../problems/gateway-error.js';
import { toRenewAfterMs, type AccessToken } from './access-token.js';
import { readTokenAnswer, TOKEN_ENDPOINT } from './read-token-answer.js';

/** Path of the token endpoint below {auth_url} (docs/bank.md#token-endpoint). */
const AUTHORIZE_PATH = '/api/v1/authorizations/authorize';

interface TokenRequest {
  readonly egress: Pick<Egress, 'get'>;
  readonly authUrl: string;
  readonly credentials: { readonly username: string; readonly password: string };
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Asks the bank for one access token, as docs/bank.md#token-endpoint says.
 * @throws GatewayError as `Egress.get` and `readTokenAnswer`
 */
export async function requestToken({
  egress,
  authUrl,
  credentials,
  clock,
  logger,
}: TokenRequest): Promise<AccessToken> {
  const requestedAt = clock.now();
  const basic = Buffer.from(`${credentials.username}:${credentials.password}`, 'utf8').toString('base64');
  const wire = await egress.get({
    target: TOKEN_ENDPOINT,
    baseUrl: authUrl,
    path: AUTHORIZE_PATH,
    counted: { endpoint: 'token', judge: (answer) => codeOf(() => readTokenAnswer(answer, clock.now().wall)) },
    headers: { 'Content-Type': 'application/json', Authorization: `Basic ${basic}` },
  });
  const answer = readTokenAnswer(wire, clock.now().wall);
  if (!answer.lifetimeKnown) {
    logger.warn(
      { event: 'token.lifetime-unknown' },
      `expires_in of the token cannot be used; taking ${answer.lifetimeSeconds} s`,
    );
  }
  const lifetimeMs = answer.lifetimeSeconds * 1000;
  return { value: answer.value, requestedAt, lifetimeMs, renewAfterMs: toRenewAfterMs(lifetimeMs) };
}
