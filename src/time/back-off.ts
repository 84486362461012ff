import type { Clock, Instant } from './clock.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';

/** Refusals that retries make worse: a wrong password may lock the user (docs/bank.md#back-off). */
const REFUSALS: ReadonlySet<ProblemCode> = new Set([
  'credentials-rejected',
  'certificate-rejected',
  'address-not-allowed',
]);

const STEPS = { failure: { firstMs: 1000, maxMs: 30_000 }, refusal: { firstMs: 30_000, maxMs: 300_000 } };
const RETRY_AFTER_MAX_MS = 300_000;
const JITTER = 0.2;

/** A series of failures at one moment. Times are ISO 8601. */
export interface Trouble {
  /** The last failure, with the time until the next attempt while the back-off lasts. */
  readonly error: GatewayError;
  /** `open` during the back-off; `half-open` when the next call is a probe. */
  readonly circuit: 'open' | 'half-open';
  readonly since: string;
  readonly attempts: number;
  readonly lastAt: string;
  /** Earliest time of the next attempt; it may have passed, since only a call makes one. */
  readonly retryAt: string;
}

/**
 * Back-off after failures, and with it the circuit breaker: while it lasts nothing is asked. 1 s, 2 s, 4 s … 30 s after
 * a failure; 30 s … 300 s after a refusal of credentials, certificate or address; a Retry-After from the bank takes
 * precedence, up to 300 s. Jitter makes a step up to a fifth longer, never shorter.
 */
export class BackOff {
  #failures = 0;
  #attempts = 0;
  #failingSince: Instant | null = null;
  #kind: keyof typeof STEPS = 'failure';
  #last: { readonly error: GatewayError; readonly at: Instant; readonly waitMs: number } | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly random = Math.random,
  ) {}

  /** Records a failure. Returns the same error, with the time until the next attempt. */
  failed(error: GatewayError): GatewayError {
    const kind = REFUSALS.has(error.code) && !error.isInferred ? 'refusal' : 'failure';
    this.#failures = kind === this.#kind ? this.#failures + 1 : 1;
    this.#kind = kind;
    const waitMs = this.#toWaitMs(error);
    this.#last = { error, at: this.clock.now(), waitMs };
    this.#failingSince ??= this.#last.at;
    this.#attempts += 1;
    return error.withRetryAfter(waitMs);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#attempts = 0;
    this.#failingSince = null;
    this.#last = null;
  }

  /** Ends the back-off: the next attempt may be made at once, for example after a correction by the operator. */
  reset(): void {
    if (this.#last) this.#last = { ...this.#last, waitMs: 0 };
  }

  #toWaitMs({ retryAfterMs }: GatewayError): number {
    if (retryAfterMs !== undefined) return Math.min(RETRY_AFTER_MAX_MS, Math.max(retryAfterMs, STEPS.failure.firstMs));
    const { firstMs, maxMs } = STEPS[this.#kind];
    const step = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures - 1, 20));
    return Math.min(maxMs, step * (1 + JITTER * this.random()));
  }

  /** The error to return during the back-off, else null. */
  failureNow(): GatewayError | null {
    const trouble = this.trouble();
    return trouble?.circuit === 'open' ? trouble.error : null;
  }

  /** The current series of failures; null after a success. */
  trouble(): Trouble | null {
    const last = this.#last;
    if (!last || !this.#failingSince) return null;
    const leftMs = last.waitMs - this.clock.since(last.at);
    return {
      error: leftMs > 0 ? last.error.withRetryAfter(leftMs) : last.error,
      circuit: leftMs > 0 ? 'open' : 'half-open',
      since: toIso(this.#failingSince.wall),
      attempts: this.#attempts,
      lastAt: toIso(last.at.wall),
      retryAt: toIso(last.at.wall + last.waitMs),
    };
  }
}

const toIso = (wallMs: number): string => new Date(wallMs).toISOString();
