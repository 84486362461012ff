import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import type { GatewayError } from '../problems/gateway-error.js';

type BankWork = 'token' | 'refresh';

interface Failure {
  readonly error: GatewayError;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * The condition of the bank, over token and refresh. A series of failures begins with the first and ends once each kind of
 * work that failed has succeeded again; both are logged once.
 */
export class BankCondition {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #failing = new Map<BankWork, Failure>();
  #lastSuccessAt: string | null = null;
  #lastFailure: Failure | null = null;

  #identity = 1;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  failed(work: BankWork, error: GatewayError): void {
    this.#lastFailure = { error, at: this.#at() };
    const first = this.#failing.size === 0;
    this.#failing.set(work, this.#lastFailure);
    if (first) {
      this.#logger[error.needsSomeone ? 'error' : 'warn'](
        { event: 'bank.unavailable', code: error.code, owner: error.owner, detail: error.detail, work },
        'the bank is unavailable',
      );
    }
  }

  succeeded(work: BankWork): void {
    this.#lastSuccessAt = this.#at();
    if (this.#failing.delete(work) && this.#failing.size === 0) {
      this.#logger.info({ event: 'bank.recovered', work }, 'the bank is available again');
    }
  }

  /** Counts identities, because the bank may accept a new one after it refused the old one. */
  get identity(): number {
    return this.#identity;
  }

  identityReplaced(): void {
    this.#identity += 1;
  }

  status() {
    const last = this.#lastFailure;
    return {
      /** The failures of the current series, by kind of work. */
      failures: { token: this.#failing.get('token') ?? null, refresh: this.#failing.get('refresh') ?? null },
      lastSuccessAt: this.#lastSuccessAt,
      lastError: last && { code: last.error.code, at: last.at },
    };
  }

  #at(): string {
    return new Date(this.#clock.now().wall).toISOString();
  }
}
