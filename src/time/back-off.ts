import type { Clock, Instant } from './clock.js';
import type { GatewayError } from '../errors/gateway-error.js';

const DELAYS = { failure: { firstMs: 1000, maxMs: 30_000 }, rejection: { firstMs: 30_000, maxMs: 300_000 } };
const RETRY_AFTER_MAX_MS = 300_000;
const JITTER = 0.2;

/** The failures since the last success, at one moment. Times are ISO 8601. */
export interface Trouble {
  /** The last failure. During the back-off, it has the time until the next attempt. */
  readonly error: GatewayError;
  /** `open` during the back-off; `half-open` when the next call is a probe. */
  readonly circuit: 'open' | 'half-open';
  readonly since: string;
  readonly attempts: number;
  readonly lastAt: string;
  /** Earliest time of the next attempt. It may have passed: nothing is tried until a call or a probe needs it. */
  readonly retryAt: string;
}

interface Series {
  readonly kind: keyof typeof DELAYS;
  /** Failures of this kind in a row. */
  readonly step: number;
  readonly attempts: number;
  readonly since: Instant;
  readonly error: GatewayError;
  readonly lastAt: Instant;
  readonly waitMs: number;
}

/**
 * Back-off after failures (docs/calling-the-bank.md#back-off), which is also the circuit breaker: while it lasts, its
 * owner requests nothing. Jitter makes a step up to a fifth longer, never shorter.
 */
export class BackOff {
  #series: Series | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly random = Math.random,
  ) {}

  /** Records a failure. Returns the error with the time until the next attempt. */
  failed(error: GatewayError): GatewayError {
    const before = this.#series;
    const kind = error.isRejection ? 'rejection' : 'failure';
    const step = kind === before?.kind ? before.step + 1 : 1;
    const waitMs = this.#toWaitMs(error, kind, step);
    const lastAt = this.clock.now();
    const since = before?.since ?? lastAt;
    this.#series = { kind, step, attempts: (before?.attempts ?? 0) + 1, since, error, lastAt, waitMs };
    return error.withRetryAfter(waitMs);
  }

  succeeded(): void {
    this.#series = null;
  }

  /** Ends the back-off: the next attempt may happen at once. */
  reset(): void {
    if (this.#series) this.#series = { ...this.#series, waitMs: 0 };
  }

  #toWaitMs({ retryAfterMs }: GatewayError, kind: keyof typeof DELAYS, step: number): number {
    const { firstMs, maxMs } = DELAYS[kind];
    const stepMs = Math.min(maxMs, firstMs * 2 ** Math.min(step - 1, 20));
    const ownMs = Math.min(maxMs, stepMs * (1 + JITTER * this.random()));
    if (retryAfterMs === undefined) return ownMs;
    const leastMs = kind === 'rejection' ? ownMs : firstMs;
    return Math.min(RETRY_AFTER_MAX_MS, Math.max(retryAfterMs, leastMs));
  }

  /** The error to return during the back-off, else null. */
  failureNow(): GatewayError | null {
    const trouble = this.trouble();
    return trouble?.circuit === 'open' ? trouble.error : null;
  }

  trouble(): Trouble | null {
    if (!this.#series) return null;
    const { error, since, attempts, lastAt, waitMs } = this.#series;
    const leftMs = waitMs - this.clock.since(lastAt);
    return {
      error: leftMs > 0 ? error.withRetryAfter(leftMs) : error,
      circuit: leftMs > 0 ? 'open' : 'half-open',
      since: toIso(since.wall),
      attempts,
      lastAt: toIso(lastAt.wall),
      retryAt: toIso(lastAt.wall + waitMs),
    };
  }
}

const toIso = (wallMs: number): string => new Date(wallMs).toISOString();
