import type { LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import type { Egress } from '../egress/egress.js';
import { toAccessToken, type AccessToken } from './access-token.js';
import { assertUsable } from './unusable-reason.js';
import type { IdentityMaterial } from './identity-material.js';
import { readTokenAnswer } from './read-token-answer.js';

/** Path of the token endpoint below {auth_url} (docs/bank.md#token-endpoint). */
const AUTHORIZE_PATH = '/api/v1/authorizations/authorize';

interface TokenEndpointOptions {
  readonly egress: Pick<Egress, 'get'>;
  readonly authUrl: string;
  readonly material: Pick<IdentityMaterial, 'certificate' | 'username' | 'password'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Limits all identities together to one token request at a time. */
  readonly oneAtATime: LimitFunction;
}

/** Requests access tokens as one user with one certificate. */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  /**
   * One token request, once no other is in flight.
   * @throws GatewayError certificate-unusable, and as `Egress.get` and `readTokenAnswer`
   */
  request(): Promise<AccessToken> {
    return this.#options.oneAtATime(() => this.#request());
  }

  async #request(): Promise<AccessToken> {
    const { egress, authUrl, material, clock, logger } = this.#options;
    const requestedAt = clock.now();
    assertUsable(material.certificate, requestedAt.wall);
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
        `expires_in of the token cannot be used; taking ${lifetimeSeconds} s`,
      );
    }
    return toAccessToken(value, lifetimeSeconds * 1000, requestedAt);
  }
}
