import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { AuthorizedCall, NoToken } from '../auth/authorized-call.js';
import { Settings } from '../config/settings.js';
import { toAnswerError } from '../egress/answer-error.js';
import { ConnectTimedOut } from '../egress/failures.js';
import type { WireAnswer } from '../egress/wire-client.js';
import { GatewayError } from '../errors/gateway-error.js';
import { BankDrift } from './bank-drift.js';
import type { PageFacts } from './page-reader.js';
import { Paging, type AccountList } from './paging.js';

/** Path of the account list below {base_url} (docs/bank.md#account-list). */
const ACCOUNTS_PATH = '/api/v1/accounts';
const RETRY_AFTER_MS = { min: 100, spread: 200 };
const RETRIED = new Set([502, 503, 504]);
/** Maximum number of bytes of an error body that are searched for the page size. */
const MAX_LOOKED_AT = 65_536;

/** One page as received. */
export interface ListPage {
  /** Page number, from 1. Page 1 starts the list, or restarts it: the pages before it are then void. */
  readonly number: number;
  readonly body: Buffer;
}

interface RefreshOptions {
  readonly call: Pick<AuthorizedCall, 'get'>;
  readonly drift: Pick<BankDrift, 'note'>;
  readonly maxConcurrentRequests: number;
  /** Facts about the bank that one refresh learns for the next. */
  readonly learned: {
    /** The page size of the last pass that was read as a whole. */
    pageSize: number;
    /** Number of pages of the last list. As many are requested at once, which saves a round trip. */
    expectedPages: number;
  };
}

/** Begins refreshes of the account list. Each uses what the one before learned about the bank's paging. */
@Injectable()
export class AccountReader {
  readonly #options: RefreshOptions;

  constructor(
    @Inject(AuthorizedCall) call: RefreshOptions['call'],
    @Inject(BankDrift) drift: RefreshOptions['drift'],
    @Inject(Settings) settings: Pick<Settings, 'BANK_PAGE_SIZE' | 'BANK_MAX_CONCURRENT_REQUESTS'>,
  ) {
    const { BANK_PAGE_SIZE: pageSize, BANK_MAX_CONCURRENT_REQUESTS: maxConcurrentRequests } = settings;
    this.#options = { call, drift, maxConcurrentRequests, learned: { pageSize, expectedPages: 1 } };
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
   * @throws GatewayError as `AuthorizedCall.get` and `toAnswerError`
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
    let { pageSize } = learned;
    while (!(yield* this.#passWith(pageSize))) {
      if (pageSize === 1) {
        throw new GatewayError('bank-refused', 'The bank rejects every page size of the account list.');
      }
      pageSize = Math.floor(pageSize / 2);
      learned.expectedPages = 1;
    }
    learned.pageSize = pageSize;
    learned.expectedPages = this.result.pages;
  }

  /** Returns false if the bank refuses pages of this size. */
  async *#passWith(pageSize: number): AsyncGenerator<ListPage, boolean> {
    const { learned, maxConcurrentRequests } = this.options;
    const end = new AbortController();
    const signal = AbortSignal.any([this.signal, end.signal]);
    const asked = new Map<number, Promise<WireAnswer>>();
    let lastAsked = 0;
    const askUpTo = (number: number) => {
      while (lastAsked < number) {
        const answer = this.#get(++lastAsked, pageSize, signal);
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
        const answer = await (asked.get(number) as Promise<WireAnswer>);
        asked.delete(number);
        if (isTooLarge(answer)) return false;
        // past the end
        if (answer.status === 404 && number > 1) break;
        const error = toAnswerError(answer, 'accounts');
        if (error) throw error;
        askUpTo(Math.min(paging.last, number + maxConcurrentRequests));
        yield { number, body: answer.body };
        askUpTo(Math.min(paging.last, number + maxConcurrentRequests));
      }
      return true;
    } finally {
      // one failed page ends the others
      end.abort(new Error('the pass has ended'));
    }
  }

  /** One page, with any status. Retried once after a transient failure (docs/architecture.md#every-retry). */
  async #get(pageNumber: number, pageSize: number, signal: AbortSignal): Promise<WireAnswer> {
    const request = {
      path: ACCOUNTS_PATH,
      query: { PageNumber: String(pageNumber), PageSize: String(pageSize) },
      ...(pageNumber > 1 && { expected: [404] }),
      refreshId: this.refreshId,
      signal,
    };
    const { call } = this.options;
    try {
      const answer = await call.get(request);
      // a Retry-After rules out an early retry
      if (!RETRIED.has(answer.status) || answer.retryAfter !== null) return answer;
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
    }
    await delay(RETRY_AFTER_MS.min + Math.random() * RETRY_AFTER_MS.spread, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
    return call.get(request);
  }
}

/** True if the bank refuses pages of this size: a 413, or a 400 that names the page size. */
function isTooLarge({ status, body }: WireAnswer): boolean {
  return status === 413 || (status === 400 && /page_?size/i.test(body.toString('latin1', 0, MAX_LOOKED_AT)));
}

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error instanceof NoToken || error instanceof ConnectTimedOut) return false;
  return error.code === 'bank-unreachable' || error.code === 'proxy-unavailable';
}
