import type { Logger } from 'pino';
import { later, type Clock, type Instant } from '../time/clock.js';
import type { Egress } from '../egress/egress.js';
import type { IdentityMaterial } from './identity-material.js';
import { readTokenAnswer } from './read-token-answer.js';

/** Path of the token endpoint below {auth_url} (docs/bank.md#token-endpoint). */
const AUTHORIZE_PATH = '/api/v1/authorizations/authorize';

/** Assumed for a token whose lifetime is unknown. */
const DEFAULT_LIFETIME_SECONDS = 60;
/** The gateway stops using a token this long before its end. */
const MARGIN_MS = 5000;

/** A bearer token as the bank issued it, opaque to us, and the times of its life by both clocks. */
export interface AccessToken {
  readonly value: string;
  readonly lifetimeMs: number;
  /** Start of its lifetime: just before it was requested. */
  readonly requestedAt: Instant;
  /** The gateway renews the token in the background after this time. */
  readonly renewAt: Instant;
  /** The gateway does not send the token after this time. */
  readonly unusableAt: Instant;
}

interface TokenRequest {
  readonly egress: Pick<Egress, 'get'>;
  readonly authUrl: string;
  readonly material: Pick<IdentityMaterial, 'username' | 'password'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Requests an access token as one user with one certificate, which must be valid.
 * @throws GatewayError as `Egress.get` and `readTokenAnswer`
 */
export async function requestToken({ egress, authUrl, material, clock, logger }: TokenRequest): Promise<AccessToken> {
  const requestedAt = clock.now();
  const basic = Buffer.from(`${material.username}:${material.password}`, 'utf8').toString('base64');
  const answer = await egress.get({
    target: 'token',
    baseUrl: authUrl,
    path: AUTHORIZE_PATH,
    headers: { 'Content-Type': 'application/json', Authorization: `Basic ${basic}` },
  });
  const { value, lifetimeSeconds } = readTokenAnswer(answer, clock.now().wall);
  if (lifetimeSeconds === null) {
    logger.warn(
      { event: 'token.lifetime-unknown' },
      `expires_in of the token cannot be used; assuming ${DEFAULT_LIFETIME_SECONDS} s`,
    );
  }
  return toAccessToken(value, (lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS) * 1000, requestedAt);
}

/**
 * A token with the times of docs/bank.md#token-rules: renewed from 80 % of its life (± 5 %, so that several gateways do
 * not renew together), and used until 5 s before its end, or 10 % of a shorter life.
 */
export function toAccessToken(
  value: string,
  lifetimeMs: number,
  requestedAt: Instant,
  random: () => number = Math.random,
): AccessToken {
  return {
    value,
    lifetimeMs,
    requestedAt,
    renewAt: later(requestedAt, lifetimeMs * (0.75 + 0.1 * random())),
    unusableAt: later(requestedAt, lifetimeMs - Math.min(MARGIN_MS, lifetimeMs * 0.1)),
  };
}
