import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import type { Egress } from '../egress/egress.js';
import { toAccessToken, type AccessToken } from './access-token.js';
import { assertValid } from './certificate-validity.js';
import type { IdentityMaterial } from './identity-material.js';
import { readTokenAnswer } from './read-token-answer.js';

/** Path of the token endpoint below {auth_url} (docs/bank.md#token-endpoint). */
const AUTHORIZE_PATH = '/api/v1/authorizations/authorize';

interface TokenRequest {
  readonly egress: Pick<Egress, 'get'>;
  readonly authUrl: string;
  readonly material: Pick<IdentityMaterial, 'certificate' | 'username' | 'password'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Requests an access token as one user with one certificate.
 * @throws GatewayError certificate-unusable, and as `Egress.get` and `readTokenAnswer`
 */
export async function requestToken({ egress, authUrl, material, clock, logger }: TokenRequest): Promise<AccessToken> {
  const requestedAt = clock.now();
  assertValid(material.certificate, requestedAt.wall);
  const basic = Buffer.from(`${material.username}:${material.password}`, 'utf8').toString('base64');
  const answer = await egress.get({
    target: 'token',
    baseUrl: authUrl,
    path: AUTHORIZE_PATH,
    headers: { 'Content-Type': 'application/json', Authorization: `Basic ${basic}` },
  });
  const { value, lifetimeSeconds, lifetimeKnown } = readTokenAnswer(answer, clock.now().wall);
  if (!lifetimeKnown) {
    logger.warn(
      { event: 'token.lifetime-unknown' },
      `expires_in of the token cannot be used; assuming ${lifetimeSeconds} s`,
    );
  }
  return toAccessToken(value, lifetimeSeconds * 1000, requestedAt);
}
