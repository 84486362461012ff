import type { Health } from '../shared/health.js';

/**
 * What a call for accounts gets now. `copies`: copies while the bank is slow, from its first slow refresh until the
 * gateway calls it fast again, whatever a single call gets. `empty`: a list without accounts, current or not. `none`: an
 * error. `waiting`: it waits for a slow bank, because nothing is cached. `untried`: it waits for the bank, whose response
 * nobody can predict.
 */
export type Served = 'current' | 'copy' | 'copies' | 'empty' | 'none' | 'waiting' | 'untried' | 'stopping';

/** True if the certificate of this API has expired: apps that verify it cannot connect. */
export const isShut = ({ details: { listener } }: Health, now: number): boolean =>
  listener !== undefined && Date.parse(listener.notAfter) <= now;

/** What a call gets at `now`, ms of the gateway's clock. The end of a copy is known before /health is polled again. */
export function toServed({ details }: Health, now: number): Served {
  const { instance, certificate, egress, token, bank, snapshot } = details;
  if (instance) return 'stopping';
  const codes = [egress, token, bank].map(({ code }) => code).filter((code) => code !== undefined);
  const isServable = snapshot.expiresAt !== null && Date.parse(snapshot.expiresAt) > now;
  if (isServable) {
    if (snapshot.accounts === 0) return 'empty';
    if (codes.includes('bank-slow')) return 'copies';
    return snapshot.stale ? 'copy' : 'current';
  }
  if (certificate.code === 'certificate-unusable') return 'none';
  if (codes.some((code) => code !== 'bank-slow' && code !== 'clock-skewed')) return 'none';
  return [...codes, snapshot.code].includes('bank-slow') ? 'waiting' : 'untried';
}
