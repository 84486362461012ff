import type { BankDrift } from './bank-drift.js';
import { ListRefresh, type Learned } from './list-refresh.js';
import type { PageSource } from './page-source.js';

interface AccountReaderOptions {
  readonly pageSize: number;
  readonly maxConcurrentRequests: number;
}

/** Begins refreshes of the account list, and remembers from one to the next how the bank pages. */
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

  /** A refresh that calls the bank while its pages are iterated; `signal` ends it. */
  begin(refreshId: string, signal: AbortSignal): ListRefresh {
    return new ListRefresh({
      source: this.#source,
      drift: this.#drift,
      learned: this.#learned,
      maxConcurrentRequests: this.#maxConcurrentRequests,
      refreshId,
      signal,
    });
  }
}
