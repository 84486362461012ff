import type { BankDrift } from './bank-drift.js';
import { ListReading, type Learned } from './list-reading.js';
import type { PageSource } from './page-source.js';

interface AccountReaderOptions {
  readonly pageSize: number;
  readonly maxConcurrentRequests: number;
}

/** Begins readings of the account list, and keeps what one teaches for the next. */
export class AccountReader {
  readonly #source: Pick<PageSource, 'get'>;
  readonly #drift: Pick<BankDrift, 'note'>;
  readonly #maxConcurrentRequests: number;
  readonly #learned: Learned;

  constructor(
    source: Pick<PageSource, 'get'>,
    drift: Pick<BankDrift, 'note'>,
    { pageSize, maxConcurrentRequests }: AccountReaderOptions,
  ) {
    this.#source = source;
    this.#drift = drift;
    this.#maxConcurrentRequests = maxConcurrentRequests;
    this.#learned = { pageSize, expectedPages: 1 };
  }

  /** A reading that asks the bank as its pages are iterated; `signal` ends it. */
  begin(refreshId: string, signal: AbortSignal): ListReading {
    return new ListReading({
      source: this.#source,
      drift: this.#drift,
      learned: this.#learned,
      maxConcurrentRequests: this.#maxConcurrentRequests,
      refreshId,
      signal,
    });
  }
}
