import type { Instant } from '../clock.js';

/** A bearer token as the bank issued it, opaque to us, and how long it may be used. */
export interface AccessToken {
  readonly value: string;
  /** Before it was asked for; its life counts from here. */
  readonly requestedAt: Instant;
  readonly lifetimeMs: number;
  /** Age from which it is renewed in the background: 80 % of its life, ± 5 %. */
  readonly renewAfterMs: number;
}

const MARGIN_MS = 5000;

/** Age from which a token is not used any more: 5 s before its end, or 10 % of its life where that is less. */
export function usableForMs(token: AccessToken): number {
  return token.lifetimeMs - Math.min(MARGIN_MS, token.lifetimeMs * 0.1);
}
