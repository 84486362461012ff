import type { Health } from '../shared/health.js';
import { toDateAndMinute, toMinute } from '../shared/time.js';
import type { Advice } from './advice.js';
import type { Served } from './served.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The moment at which calls begin to fail if nobody acts, ISO 8601; null where nothing ends.
 * @param answeredAt when /health answered, ms of the gateway's clock
 */
export function toEnd(
  { part, since }: { readonly part: string; readonly since: string | null },
  served: Served,
  { details }: Health,
  answeredAt: number,
): string | null {
  if (served === 'none' || served === 'waiting' || served === 'stopping') return null;
  const { certificate, token, snapshot, listener } = details;
  if (snapshot.stale) return snapshot.expiresAt;
  if (part === 'listener') return listener?.notAfter ?? null;
  if (part === 'certificate') return certificate.notAfter;
  // the renewal fails, and the token still works
  if (part === 'token' && token.expiresInSeconds !== null) {
    return new Date(answeredAt + token.expiresInSeconds * 1000).toISOString();
  }
  return since === null ? null : snapshot.expiresAt;
}

/**
 * Until when the advice must be followed, in words: "before 06:08", "now", or nothing. A cause that may heal leaves time until
 * the copy has half of its life behind it; the other half is for whoever repairs it.
 */
export function toDeadline(end: string | null, { heals }: Advice, served: Served, health: Health, now: number): string {
  const { snapshot } = health.details;
  if (served !== 'current' && served !== 'copy') return 'now';
  if (end === null) return heals ? '' : 'now';
  const endsAt = Date.parse(end);
  const isCopy = end === snapshot.expiresAt && snapshot.asOf !== null;
  if (isCopy) {
    if (!heals) return 'now';
    const asOf = Date.parse(snapshot.asOf ?? end);
    const halfway = Math.ceil((asOf + (endsAt - asOf) / 2) / MINUTE_MS) * MINUTE_MS;
    return halfway > now && halfway < endsAt ? `before ${toMinute(halfway)}` : 'now';
  }
  if (endsAt - now > DAY_MS) return `before ${toDateAndMinute(end)} UTC`;
  const due = Math.floor(endsAt / MINUTE_MS) * MINUTE_MS;
  return due > now ? `before ${toMinute(due)}` : 'now';
}
