import type { Instant } from '../time/clock.js';

/** A bearer token as the bank issued it, opaque to us, and how long it may be used. */
export interface AccessToken {
  readonly value: string;
  /** Before it was asked for; its life counts from here. */
  readonly requestedAt: Instant;
  readonly lifetimeMs: number;
  /** Age from which it is renewed in the background: 80 % of its life, ± 5 %. */
  readonly renewAfterMs: number;
  /** When it was got in place of one that the bank had refused, where another instance did that. */
  readonly forcedAt?: Instant;
  /** Who asked for it: this instance, which is meant when nothing is said, or another. */
  readonly source?: 'bank' | 'shared';
}

/** Gives a token other than `unwanted`, which is due for renewal, or was refused by the bank. */
export type RequestToken = (unwanted: AccessToken | null, refused: boolean) => Promise<AccessToken>;

/** `renewAfterMs` for a life of so many ms: spread, so that several gateways started together do not renew together. */
export const toRenewAfterMs = (lifetimeMs: number): number => lifetimeMs * (0.75 + 0.1 * Math.random());

const MARGIN_MS = 5000;

/** Age from which a token is not used any more: 5 s before its end, or 10 % of its life where that is less. */
export function usableForMs(token: AccessToken): number {
  return token.lifetimeMs - Math.min(MARGIN_MS, token.lifetimeMs * 0.1);
}
