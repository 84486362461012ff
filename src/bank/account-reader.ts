import { Inject, Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { GatewayError } from '../problems/gateway-error.js';
import { BankDrift } from './bank-drift.js';
import type { PageFacts } from './page-reader.js';
import { PageSource, type PageAnswer } from './page-source.js';
import { Paging, type AccountList } from './paging.js';

/** One page as received. */
export interface ListPage {
  /** Page number, from 1. Page 1 starts the list, or restarts it: the pages before it are then void. */
  readonly number: number;
  readonly body: Buffer;
}

interface RefreshOptions {
  readonly source: Pick<PageSource, 'get'>;
  readonly drift: Pick<BankDrift, 'note'>;
  readonly maxConcurrentRequests: number;
  /** Facts about the bank that one refresh learns for the next. */
  readonly learned: {
    /** The page size that the bank was last found to accept. */
    pageSize: number;
    /** Number of pages of the last list. As many are requested at once, which saves a round trip. */
    expectedPages: number;
  };
}

/** Below this, the page size is unlikely to be the reason for a refusal. */
const DEFAULT_PAGE_SIZE = 50;

/** Begins refreshes of the account list. Each uses what the one before learned about the bank's paging. */
@Injectable()
export class AccountReader {
  readonly #options: RefreshOptions;

  constructor(
    @Inject(PageSource) source: RefreshOptions['source'],
    @Inject(BankDrift) drift: RefreshOptions['drift'],
    @Inject(Settings) settings: Pick<Settings, 'BANK_PAGE_SIZE' | 'BANK_MAX_CONCURRENT_REQUESTS'>,
  ) {
    const { BANK_PAGE_SIZE: pageSize, BANK_MAX_CONCURRENT_REQUESTS: maxConcurrentRequests } = settings;
    this.#options = { source, drift, maxConcurrentRequests, learned: { pageSize, expectedPages: 1 } };
  }

  /** A refresh that calls the bank while its pages are iterated; `signal` ends it. */
  begin(refreshId: string, signal: AbortSignal): ListRefresh {
    return new ListRefresh(this.#options, refreshId, signal);
  }
}

/**
 * One refresh of the whole account list. The bank promises no order, so the list may change while it is read: one that
 * disagrees with its own count or has an account twice is read once more. If one page fails, the refresh fails.
 */
class ListRefresh {
  #paging: Paging;

  constructor(
    private readonly options: RefreshOptions,
    private readonly refreshId: string,
    private readonly signal: AbortSignal,
  ) {
    this.#paging = new Paging(options.learned.pageSize);
  }

  /** The outcome, once all pages have been iterated. */
  get result(): AccountList {
    return this.#paging.list;
  }

  /**
   * The pages in order; the caller passes the facts of each to `took` before it takes the next. The next ones are requested
   * meanwhile, up to BANK_MAX_CONCURRENT_REQUESTS at a time.
   * @throws GatewayError as `PageSource.get`
   */
  async *pages(): AsyncGenerator<ListPage, void> {
    yield* this.#pass();
    if (this.result.complete === false) yield* this.#pass();
  }

  /** Facts of the last page received. */
  took(facts: PageFacts): void {
    this.#paging.took(facts);
    this.options.drift.note(facts.drift);
  }

  async *#pass(): AsyncGenerator<ListPage, void> {
    const { learned } = this.options;
    while (!(yield* this.#passWith(learned.pageSize))) {
      if (learned.pageSize === 1) {
        throw new GatewayError('bank-refused', 'The bank rejects every page size of the account list.');
      }
      learned.pageSize = smaller(learned.pageSize);
      learned.expectedPages = 1;
    }
    learned.expectedPages = this.result.pages;
  }

  /** Returns false if the bank refuses pages of this size. */
  async *#passWith(pageSize: number): AsyncGenerator<ListPage, boolean> {
    const { source, learned, maxConcurrentRequests } = this.options;
    const { refreshId } = this;
    const end = new AbortController();
    const signal = AbortSignal.any([this.signal, end.signal]);
    const asked = new Map<number, Promise<PageAnswer>>();
    let lastAsked = 0;
    const askUpTo = (number: number) => {
      while (lastAsked < number) {
        const answer = source.get({ pageNumber: ++lastAsked, pageSize, refreshId, signal });
        // it may never be awaited
        answer.catch(() => undefined);
        asked.set(lastAsked, answer);
      }
    };
    const paging = (this.#paging = new Paging(pageSize));
    try {
      askUpTo(Math.min(learned.expectedPages, maxConcurrentRequests));
      for (let number = 1; number <= paging.last; number++) {
        askUpTo(number);
        const answer = (await asked.get(number)) ?? 'past-end';
        asked.delete(number);
        if (answer === 'too-large') return false;
        if (answer === 'past-end') break;
        askUpTo(Math.min(paging.last, number + maxConcurrentRequests));
        yield { number, body: answer };
        askUpTo(Math.min(paging.last, number + maxConcurrentRequests));
      }
      return true;
    } finally {
      // one failed page ends the others
      end.abort(new Error('the pass has ended'));
    }
  }
}

const smaller = (size: number) =>
  size > DEFAULT_PAGE_SIZE ? Math.max(DEFAULT_PAGE_SIZE, Math.floor(size / 2)) : Math.floor(size / 2);
