import { BackOff, type Trouble } from '../time/back-off.js';
import { later, type Instant } from '../time/clock.js';
import type { EgressParts } from '../egress/egress.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';

const FORCED_RENEWAL_EVERY_MS = 5000;
/** The gateway stops using a token this long before it expires, or a tenth of its life if that is less. */
const MARGIN_MS = 5000;

/** A bearer token as the bank issued it, and its lifetime by both clocks. */
export interface AccessToken {
  readonly value: string;
  readonly lifetimeMs: number;
  /** Start of its lifetime: just before it was requested. */
  readonly requestedAt: Instant;
  /** The first use after this time renews the token in the background. */
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

interface AccessTokenProviderOptions extends Pick<EgressParts, 'clock' | 'logger' | 'activity'> {
  /** @throws GatewayError as `requestToken` */
  readonly request: () => Promise<AccessToken>;
  readonly random?: () => number;
}

/**
 * Keeps the access token of one identity by the rules of docs/calling-the-bank.md#token: one request in flight, background
 * renewal while the gateway is in use, no use in the last seconds of its life, back-off after failures.
 */
export class AccessTokenProvider {
  readonly #backOff: BackOff;
  #current: AccessToken | null = null;
  #inFlight: Promise<AccessToken> | null = null;
  #lastForced: Instant | null = null;

  constructor(private readonly options: AccessTokenProviderOptions) {
    this.#backOff = new BackOff(options.clock, options.random);
  }

  /**
   * Returns a token that may be sent now. Waits for a renewal only if there is no usable token.
   * @throws GatewayError as `requestToken`; at once during the back-off
   */
  async get(): Promise<AccessToken> {
    const token = this.usable;
    if (!token) return this.#renew();
    if (this.options.clock.hasReached(token.renewAt)) this.#renew().catch(() => undefined);
    return token;
  }

  /**
   * Returns another token after the bank answered 401 to `rejected`: the current one if it is another, else a new one.
   * Returns null within 5 s of such a renewal that has ended: the 401 is then final.
   * @throws GatewayError as `get`
   */
  async replace(rejected: AccessToken): Promise<AccessToken | null> {
    if (this.#current !== rejected) return this.get();
    const { clock, logger } = this.options;
    if (!this.#inFlight) {
      if (this.#lastForced && clock.since(this.#lastForced) < FORCED_RENEWAL_EVERY_MS) return null;
      this.#lastForced = clock.now();
    }
    this.#current = null;
    logger.warn({ event: 'token.rejected' }, 'the bank rejected the token before it expired; requesting a new one');
    return this.#renew();
  }

  /**
   * Uses a token that has just arrived.
   * @throws GatewayError bank-timeout if it has already expired: the machine may have slept during the call
   */
  take(token: AccessToken): void {
    const { clock, logger } = this.options;
    if (clock.hasReached(token.unusableAt)) {
      throw new GatewayError('bank-timeout', 'The access token had already expired when it arrived.');
    }
    this.#current = token;
    this.#backOff.succeeded();
    const ms = Math.round(clock.since(token.requestedAt));
    logger.info({ event: 'token.acquired', lifetimeSeconds: token.lifetimeMs / 1000, ms }, 'access token acquired');
  }

  /** The token that may be sent now. */
  get usable(): AccessToken | null {
    return this.#current && !this.options.clock.hasReached(this.#current.unusableAt) ? this.#current : null;
  }

  /** The error that `get` throws at once, during the back-off without a usable token; else null. */
  failureNow(): GatewayError | null {
    return this.usable ? null : this.#backOff.failureNow();
  }

  resetBackOff(): void {
    this.#backOff.reset();
  }

  status() {
    const token = this.usable;
    const { clock } = this.options;
    const trouble = this.#backOff.trouble();
    return {
      state: token ? ('usable' as const) : toLack(this.#inFlight !== null, trouble),
      /** Expiry of the token by the wall clock, ms since 1970. */
      expiresAt: token ? token.requestedAt.wall + token.lifetimeMs : null,
      /** Time at which the token stops being sent, by the wall clock, ms since 1970. */
      usableUntil: token?.unusableAt.wall ?? null,
      expiresInSeconds: token ? Math.floor((token.lifetimeMs - clock.since(token.requestedAt)) / 1000) : null,
      trouble,
    };
  }

  #renew(): Promise<AccessToken> {
    if (this.#inFlight) return this.#inFlight;
    const failure = this.#backOff.failureNow();
    if (failure) return Promise.reject(failure);
    this.#inFlight = this.#request().finally(() => {
      this.#inFlight = null;
    });
    return this.#inFlight;
  }

  async #request(): Promise<AccessToken> {
    const { request, activity, logger } = this.options;
    try {
      const token = await request();
      this.take(token);
      activity.emit('tokenRequestEnded', { tokens: this, error: null });
      return token;
    } catch (thrown) {
      const failure = toGatewayError(thrown);
      if (failure.code === 'stopping') throw failure;
      const error = this.#backOff.failed(failure);
      activity.emit('tokenRequestEnded', { tokens: this, error });
      logger[error.needsSomeone ? 'error' : 'warn'](
        { event: 'token.failed', ...error.fields, retryInMs: Math.round(error.retryAfterMs ?? 0) },
        'the request for an access token failed',
      );
      throw error;
    }
  }
}

function toLack(isRequested: boolean, trouble: Trouble | null): 'requested' | 'waiting' | 'none' {
  if (isRequested) return 'requested';
  return trouble?.circuit === 'open' ? 'waiting' : 'none';
}
