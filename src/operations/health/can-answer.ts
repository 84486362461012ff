import type { GatewayError } from '../../errors/gateway-error.js';
import type { GatewayFacts } from './gateway-status.js';

/**
 * True if a call for accounts would be answered now: the cached snapshot may be served; or accounts have been read, and no
 * failure of certificate, token or list is in progress. A token that ran out while nobody called is no failure, and neither is
 * the list's while another instance refreshes.
 */
export function canAnswer(facts: GatewayFacts): boolean {
  const { certificate, snapshot } = facts;
  if (snapshot.servable) return true;
  const accountsRead = snapshot.asOf !== null && !snapshot.restored;
  const listFails = snapshot.trouble !== null && !snapshot.isOfOtherInstance;
  return accountsRead && certificate.unusable === null && tokenError(facts) === null && !listFails;
}

/** The failure because of which there is no usable token; null if there is a token, or nobody failed to get one. */
export function tokenError({ token: { state, trouble } }: Pick<GatewayFacts, 'token'>): GatewayError | null {
  return state === 'usable' || !trouble ? null : trouble.error;
}
