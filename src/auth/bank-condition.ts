import { Inject, Injectable } from '@nestjs/common';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';

type BankWork = 'token' | 'refresh';

/**
 * The condition of the bank, over token and refresh. A series of failures begins with the first and ends once each kind of
 * work that failed has succeeded again; both are logged once.
 */
@Injectable()
export class BankCondition {
  readonly #failing = new Map<BankWork, GatewayError>();
  #lastSuccessAt: string | null = null;
  #lastError: { readonly code: ProblemCode; readonly at: string } | null = null;

  constructor(
    private readonly clock: Clock,
    @Inject(Log) private readonly log: Pick<Log, 'logger'>,
  ) {}

  failed(work: BankWork, error: GatewayError): void {
    this.#lastError = { code: error.code, at: this.#now() };
    const first = this.#failing.size === 0;
    this.#failing.set(work, error);
    if (first) {
      this.log.logger[error.needsSomeone ? 'error' : 'warn'](
        { event: 'bank.unavailable', code: error.code, owner: error.owner, detail: error.detail, work },
        'calls to the bank fail',
      );
    }
  }

  succeeded(work: BankWork): void {
    this.#lastSuccessAt = this.#now();
    if (this.#failing.delete(work) && this.#failing.size === 0) {
      this.log.logger.info({ event: 'bank.recovered', work }, 'calls to the bank succeed again');
    }
  }

  /** Times are ISO 8601. */
  status() {
    return {
      /** The last error of each kind of work that is failing. */
      errors: [...this.#failing.values()],
      lastSuccessAt: this.#lastSuccessAt,
      lastError: this.#lastError,
    };
  }

  #now(): string {
    return new Date(this.clock.now().wall).toISOString();
  }
}
