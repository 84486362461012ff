import type { Health } from '../shared/health.js';

/**
 * What a call for accounts gets now. `empty`: a list without accounts, current or not. `none`: an error. `waiting`: it waits
 * for a list, since none is cached.
 */
export type Served = 'current' | 'copy' | 'empty' | 'none' | 'waiting' | 'stopping';

/** What apps get at `now`, ms of the gateway's clock. The end of a copy is known before /health is asked again. */
export function toServed({ status, details: { instance, bank, snapshot } }: Health, now: number): Served {
  if (instance) return 'stopping';
  const expired = snapshot.stale && snapshot.expiresAt !== null && Date.parse(snapshot.expiresAt) <= now;
  if (status === 'error' || expired) return [bank.code, snapshot.code].includes('bank-slow') ? 'waiting' : 'none';
  // an operator may have confirmed that no accounts is right
  if (snapshot.code === 'accounts-emptied') return 'empty';
  return snapshot.stale ? 'copy' : 'current';
}
