import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';

export type BankWork = 'token' | 'reading';

/**
 * How the bank does, seen over all we ask of it. A series of failures begins with the first and ends when each kind of
 * work that failed has gone well again; each end is logged once.
 */
export class BankCondition {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #failing = new Set<BankWork>();
  #lastSuccessAt: string | null = null;
  #lastError: { readonly code: ProblemCode; readonly at: string } | null = null;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  failed(work: BankWork, error: GatewayError): void {
    this.#lastError = { code: error.code, at: this.#at() };
    const first = this.#failing.size === 0;
    this.#failing.add(work);
    if (first) {
      this.#logger[error.needsSomeone ? 'error' : 'warn'](
        { event: 'bank.unavailable', code: error.code, owner: error.owner, detail: error.detail, work },
        'the bank can not be used',
      );
    }
  }

  succeeded(work: BankWork): void {
    this.#lastSuccessAt = this.#at();
    if (this.#failing.delete(work) && this.#failing.size === 0) {
      this.#logger.info({ event: 'bank.recovered', work }, 'the bank can be used again');
    }
  }

  status() {
    return { failing: this.#failing.size > 0, lastSuccessAt: this.#lastSuccessAt, lastError: this.#lastError };
  }

  #at(): string {
    return new Date(this.#clock.now().wall).toISOString();
  }
}
