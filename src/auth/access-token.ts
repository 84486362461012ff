import { later, type Instant } from '../time/clock.js';

/** The gateway stops using a token this long before it expires. */
const MARGIN_MS = 5000;

/** A bearer token as the bank issued it, opaque to us, and its lifetime by both clocks. */
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

/**
 * Creates a token with the times of docs/calling-the-bank.md#token: renewed after 80 % of its life (± 5 %, so that several
 * gateways do not renew together), and used until 5 s before it expires, or 10 % of a shorter life.
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
