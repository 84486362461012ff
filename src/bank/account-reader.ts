import type { Settings } from '../config/settings.js';
import type { BankDrift } from './bank-drift.js';
import { ListRefresh, type ListRefreshParts } from './list-refresh.js';
import type { PageSource } from './page-source.js';

/** Begins refreshes of the account list, and remembers from one to the next how the bank pages. */
export class AccountReader {
  readonly #parts: ListRefreshParts;

  constructor(
    source: Pick<PageSource, 'get'>,
    drift: Pick<BankDrift, 'note'>,
    settings: Pick<Settings, 'BANK_PAGE_SIZE' | 'BANK_MAX_CONCURRENT_REQUESTS'>,
  ) {
    const { BANK_PAGE_SIZE: pageSize, BANK_MAX_CONCURRENT_REQUESTS: maxConcurrentRequests } = settings;
    this.#parts = { source, drift, learned: { pageSize, expectedPages: 1 }, maxConcurrentRequests };
  }

  /** A refresh that calls the bank while its pages are iterated; `signal` ends it. */
  begin(refreshId: string, signal: AbortSignal): ListRefresh {
    return new ListRefresh(this.#parts, refreshId, signal);
  }
}
