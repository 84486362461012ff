import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import { BackOff } from '../time/back-off.js';
import type { Clock, Instant } from '../time/clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import { usableForMs, type AccessToken, type RequestToken } from './access-token.js';
import type { BankCondition } from './bank-condition.js';

const FORCED_RENEWAL_EVERY_MS = 5000;

interface AccessTokenProviderOptions {
  /** Asks the bank, once, or somebody who has asked it. */
  readonly request: RequestToken;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
  readonly condition: Pick<BankCondition, 'failed' | 'succeeded'>;
  readonly random?: () => number;
}

/**
 * Holds the access token of one client certificate by the rules of docs/bank.md#token-rules: one request in flight, whatever asks,
 * renewed in the background from 80 % of its life when there is work for it, never used in its last seconds, an older
 * answer never overwrites a newer, and waiting after failures.
 */
export class AccessTokenProvider {
  readonly #options: AccessTokenProviderOptions;
  readonly #backOff: BackOff;
  #current: AccessToken | null = null;
  #inFlight: Promise<AccessToken> | null = null;
  #lastForced: Instant | null = null;

  constructor(options: AccessTokenProviderOptions) {
    this.#options = options;
    this.#backOff = new BackOff(options.clock, options.random);
  }

  /**
   * A token that may be sent now. Starts a renewal in the background when it is due; waits for one only when there is
   * no usable token.
   * @throws GatewayError as reading the token answer and egress do; at once while waiting after a failure
   */
  async get(): Promise<AccessToken> {
    const token = this.usable;
    if (!token) return this.#renew();
    if (this.#options.clock.since(token.requestedAt) >= token.renewAfterMs && !this.#backOff.waiting) {
      this.#renew().catch(() => undefined);
    }
    return token;
  }

  /**
   * Another token, after the bank answered 401 to this one. Only the current token is dropped for it, and at most one in
   * 5 s; a late answer to an older token just gets the current one. Gives null when a token was got by force less than
   * 5 s ago: the 401 then stands.
   * @throws GatewayError as `get`
   */
  async replace(rejected: AccessToken): Promise<AccessToken | null> {
    if (this.#current !== rejected) return this.get();
    const { clock, logger } = this.#options;
    if (!this.#inFlight) {
      if (this.#lastForced && clock.since(this.#lastForced) < FORCED_RENEWAL_EVERY_MS) return null;
      this.#lastForced = clock.now();
    }
    this.#current = null;
    logger.warn({ event: 'token.rejected' }, 'the bank rejected the token before its end; asking for a new one');
    return this.#renew(rejected);
  }

  /** The token that may be sent now, or null. */
  get usable(): AccessToken | null {
    return this.#current && this.mayBeSent(this.#current) ? this.#current : null;
  }

  /** Whether a token is young enough to be sent now. */
  mayBeSent(token: AccessToken): boolean {
    return this.#options.clock.since(token.requestedAt) < usableForMs(token);
  }

  /** True while it is too early to ask again after a failure. */
  get waiting(): boolean {
    return this.#backOff.waiting !== null;
  }

  /** Ends the waiting after failures: the next call may ask for a token at once. */
  resetBackOff(): void {
    this.#backOff.resetBackOff();
  }

  status() {
    const token = this.usable;
    const { clock } = this.#options;
    return {
      state: token
        ? ('usable' as const)
        : this.#inFlight
          ? ('requested' as const)
          : this.#backOff.waiting
            ? ('waiting' as const)
            : ('none' as const),
      /** When the token ends by the wall clock, ms since 1970. */
      expiresAt: token ? token.requestedAt.wall + token.lifetimeMs : null,
      expiresInSeconds: token ? Math.floor((token.lifetimeMs - clock.since(token.requestedAt)) / 1000) : null,
      /** The last failure of the current series. */
      error: this.#backOff.lastError,
      failure: this.#backOff.status(),
      circuit: this.#backOff.circuit,
    };
  }

  #renew(rejected: AccessToken | null = null): Promise<AccessToken> {
    if (this.#inFlight) return this.#inFlight;
    const waiting = this.#backOff.waiting;
    if (waiting) return Promise.reject(waiting);
    const request = this.#request(rejected).finally(() => {
      this.#inFlight = null;
    });
    this.#inFlight = request;
    return request;
  }

  async #request(rejected: AccessToken | null): Promise<AccessToken> {
    const { logger, condition, activity } = this.#options;
    const started = performance.now();
    try {
      const token = await this.#options.request(rejected ?? this.#current, rejected !== null);
      // as after a machine that slept in the middle of the call
      if (!this.mayBeSent(token)) throw new GatewayError('bank-timeout', 'The access token came after its own end.');
      this.#current = token;
      if (token.forcedAt) this.#lastForced = token.forcedAt;
      this.#backOff.succeeded();
      condition.succeeded('token');
      // another instance's is counted there
      if (token.source !== 'shared') activity.emit('tokenRequestEnded', { code: null });
      logger.info(
        {
          event: 'token.acquired',
          lifetimeSeconds: token.lifetimeMs / 1000,
          ms: Math.round(performance.now() - started),
          source: token.source ?? 'bank',
        },
        'access token acquired',
      );
      return token;
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'stopping') throw thrown;
      const error = this.#backOff.failed(toGatewayError(thrown));
      condition.failed('token', error);
      activity.emit('tokenRequestEnded', { code: error.code });
      logger[error.needsSomeone ? 'error' : 'warn'](
        {
          event: 'token.failed',
          code: error.code,
          owner: error.owner,
          detail: error.detail,
          retryInMs: Math.round(error.retryAfterMs ?? 0),
        },
        'no access token',
      );
      throw error;
    }
  }
}
