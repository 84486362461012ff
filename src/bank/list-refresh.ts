import { GatewayError } from '../problems/gateway-error.js';
import type { BankDrift } from './bank-drift.js';
import type { PageFacts } from './page-reader.js';
import type { PageAnswer, PageSource } from './page-source.js';
import { Paging, type Pass } from './paging.js';

/** One page as received. */
export interface ListPage {
  /** Page number, from 1. Page 1 starts the list, or restarts it: the pages before it are then void. */
  readonly number: number;
  readonly pieces: readonly Buffer[];
}

/** The outcome of a refresh of the whole list. */
export interface AccountList {
  readonly accounts: number;
  /** True if the bank's row count agrees; null without a count (docs/api.md#freshness). */
  readonly complete: boolean | null;
  readonly pages: number;
}

/** Facts about the bank that one refresh learns for the next. */
export interface Learned {
  /** The page size that the bank was last found to accept. */
  pageSize: number;
  /** Number of pages of the last list that had a row count. As many are requested at once, which saves a round trip. */
  expectedPages: number;
}

/** The parts that all refreshes share. */
export interface ListRefreshParts {
  readonly source: Pick<PageSource, 'get'>;
  readonly drift: Pick<BankDrift, 'note'>;
  readonly learned: Learned;
  readonly maxConcurrentRequests: number;
}

/** 200 000 accounts of 3 KB. Endless pages must not exhaust the memory. */
const MAX_BYTES = 600_000_000;
/** Below this, the page size is unlikely to be the reason for a refusal. */
const DEFAULT_PAGE_SIZE = 50;

/**
 * One refresh of the whole account list. The bank promises no order, so the list may change while it is read: one that
 * disagrees with its own count or has an account twice is read once more. If one page fails, the refresh fails.
 */
export class ListRefresh {
  readonly #parts: ListRefreshParts;
  readonly #refreshId: string;
  readonly #signal: AbortSignal;
  #facts: PageFacts | null = null;
  #result: AccountList | null = null;
  #bytes = 0;

  constructor(parts: ListRefreshParts, refreshId: string, signal: AbortSignal) {
    this.#parts = parts;
    this.#refreshId = refreshId;
    this.#signal = signal;
  }

  /** The outcome, once all pages have been iterated. */
  get result(): AccountList {
    if (!this.#result) throw new Error('not all pages have been read');
    return this.#result;
  }

  /**
   * The pages in order; each is answered with `took` before the next is requested. The next ones are asked for
   * meanwhile, up to BANK_MAX_CONCURRENT_REQUESTS at a time.
   * @throws GatewayError as `PageSource.get`
   */
  async *pages(): AsyncGenerator<ListPage, void> {
    const first = yield* this.#pass();
    const pass = first.drifted ? yield* this.#pass() : first;
    this.#result = {
      accounts: pass.accounts,
      complete: pass.drifted ? false : pass.counted ? true : null,
      pages: pass.pages,
    };
  }

  /** Facts of the last page received. */
  took(facts: PageFacts): void {
    this.#facts = facts;
    this.#parts.drift.note(facts.drift);
  }

  async *#pass(): AsyncGenerator<ListPage, Pass> {
    const { learned } = this.#parts;
    for (;;) {
      const pass = yield* this.#passWith(learned.pageSize);
      if (pass) {
        learned.expectedPages = pass.counted ? pass.pages : 1;
        return pass;
      }
      if (learned.pageSize === 1) {
        throw new GatewayError('bank-refused', 'The bank rejects every page size of the account list.');
      }
      learned.pageSize = smaller(learned.pageSize);
      learned.expectedPages = 1;
    }
  }

  /** Returns null if the bank refuses pages of this size. */
  async *#passWith(pageSize: number): AsyncGenerator<ListPage, Pass | null> {
    const { source, learned, maxConcurrentRequests } = this.#parts;
    const end = new AbortController();
    const signal = AbortSignal.any([this.#signal, end.signal]);
    const asked = new Map<number, Promise<PageAnswer>>();
    let lastAsked = 0;
    const askUpTo = (number: number) => {
      while (lastAsked < number) {
        const answer = source.get({ pageNumber: ++lastAsked, pageSize, refreshId: this.#refreshId, signal });
        // it may never be awaited
        answer.catch(() => undefined);
        asked.set(lastAsked, answer);
      }
    };
    const paging = new Paging(pageSize);
    this.#bytes = 0;
    try {
      askUpTo(Math.min(learned.expectedPages, maxConcurrentRequests));
      for (let number = 1; number <= paging.last; number++) {
        askUpTo(number);
        const answer = await asked.get(number);
        asked.delete(number);
        if (answer?.kind === 'too-large') return null;
        if (answer?.kind !== 'page') {
          paging.pastEnd(number);
          break;
        }
        askUpTo(Math.min(paging.last, number + maxConcurrentRequests));
        yield this.#toPage(number, answer.pieces);
        paging.took(number, this.#takeFacts());
        askUpTo(Math.min(paging.last, number + maxConcurrentRequests));
      }
      return paging.pass;
    } finally {
      // one failed page ends the others
      end.abort(new Error('the pass has ended'));
    }
  }

  #toPage(number: number, pieces: readonly Buffer[]): ListPage {
    for (const { length } of pieces) this.#bytes += length;
    if (this.#bytes <= MAX_BYTES) return { number, pieces };
    throw new GatewayError('bank-response-invalid', `The account list is longer than ${MAX_BYTES} bytes.`);
  }

  #takeFacts(): PageFacts {
    const facts = this.#facts;
    if (!facts) throw new Error('a page has no answer');
    this.#facts = null;
    return facts;
  }
}

const smaller = (size: number) =>
  size > DEFAULT_PAGE_SIZE ? Math.max(DEFAULT_PAGE_SIZE, Math.floor(size / 2)) : Math.floor(size / 2);
