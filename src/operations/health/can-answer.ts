import type { GatewayError } from '../../errors/gateway-error.js';
import type { GatewayFacts } from './gateway-status.js';

/**
 * True if a call for accounts would be answered now: the cached snapshot may be served; or accounts have been read, and no
 * failure of certificate, token or list is in progress. A token that ran out while nobody called is no failure.
 */
export function canAnswer(facts: GatewayFacts): boolean {
  const { certificate, snapshot } = facts;
  if (snapshot.servable) return true;
  const accountsRead = snapshot.asOf !== null && !snapshot.restored;
  return accountsRead && certificate.unusable === null && tokenError(facts) === null && snapshot.error === null;
}

/** The failure because of which there is no usable token; null if there is a token, or nobody failed to get one. */
export function tokenError({ token: { state, error } }: Pick<GatewayFacts, 'token'>): GatewayError | null {
  return state === 'usable' ? null : error;
}
