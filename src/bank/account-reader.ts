import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { AuthorizedCall, NoToken } from '../auth/authorized-call.js';
import { Settings } from '../config/settings.js';
import { toAnswerError } from '../egress/answer-error.js';
import { ConnectTimedOut } from '../egress/connection.js';
import type { Answer, WireAnswer } from '../egress/wire-client.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { Log } from '../telemetry/log.js';
import type { PageFacts } from '../list/bank-page.js';
import { Paging, type ListOutcome } from './paging.js';

/** Path of the account list below {base_url} (docs/bank.md#account-list). */
export const ACCOUNTS_PATH = '/api/v1/accounts';
const RETRY_AFTER_MS = { min: 100, spread: 200 };
const RETRIED = new Set([502, 503, 504]);
/** Minimum wait if the bank asks us to wait; also if it does not say how long. */
const ASKED_WAIT_MS = 1000;
/** If the token is longer in coming, the refresh fails. */
const MAX_TOKEN_WAIT_MS = 5000;
/** The only page size in the bank's document. */
const DOCUMENTED_SIZE = 50;
/** In one refresh, over all passes, as is MAX_BYTES: the bank may send one account per page. */
const MAX_PAGES = 2000;
const MAX_BYTES = 256 * 1024 * 1024;
/** Pages requested ahead wait in memory while the list thread parses another. */
const MAX_BYTES_AHEAD = 32 * 1024 * 1024;
/** Then the configured size is tried again: the bank may have recovered. */
const REFRESHES_WITH_SMALLER_PAGES = 5;
/** Bytes of an error body to search for the page size. */
const MAX_SCANNED_BYTES = 65_536;

/** Reads the accounts of one page, in order. Page 1 starts the list, or restarts it: the pages before it are then void. */
export type ParsePage = (number: number, body: Buffer) => Promise<PageFacts>;

/** Called with the bank's answer when it asks the refresh to wait, and with null once the refresh goes on. */
export type NoteAsked = (error: GatewayError | null) => void;

/** The state of one refresh, over all passes. */
class ListRefresh {
  pagesAsked = 0;
  bytes = 0;
  /** True once the bank asked us to wait, or a page failed while another was retried: it may limit calls. */
  isOneByOne = false;
  /** Runs the retries one after another. */
  readonly retries = pLimit(1);
  /** Monotonic, ms. */
  readonly endsAt: number;

  /** @param id at the bank */
  constructor(
    readonly id: string,
    readonly signal: AbortSignal,
    readonly parsePage: ParsePage,
    readonly noteAsked: NoteAsked,
    { SNAPSHOT_READ_TIMEOUT_MS }: Settings,
  ) {
    this.endsAt = performance.now() + SNAPSHOT_READ_TIMEOUT_MS;
  }
}

/**
 * Reads the whole account list. The bank guarantees no order: a list that disagrees with its own count or has an account
 * twice is read once more. If one page fails, the refresh fails.
 */
@Injectable()
export class AccountReader {
  /** Smaller than BANK_PAGE_SIZE for some refreshes after the bank has rejected that size. */
  #pageSize: number;
  /** Complete refreshes in a row with smaller pages. */
  #withSmallerPages = 0;
  /** Pages to request at once: those of the last list, if they are not too long. This saves a round trip. */
  #expectedPages = 1;

  constructor(
    private readonly call: AuthorizedCall,
    private readonly settings: Settings,
    private readonly log: Log,
  ) {
    this.#pageSize = settings.BANK_PAGE_SIZE;
  }

  /**
   * The next pages are requested while `parsePage` works, up to BANK_MAX_CONCURRENT_REQUESTS at a time.
   * @throws GatewayError as `AuthorizedCall.get` and `toAnswerError`, bank-response-invalid; the reason of `signal`; what
   *   `parsePage` throws
   */
  async read(
    id: string,
    signal: AbortSignal,
    parsePage: ParsePage,
    noteAsked: NoteAsked = () => undefined,
  ): Promise<ListOutcome> {
    const refresh = new ListRefresh(id, signal, parsePage, noteAsked, this.settings);
    try {
      const first = await this.#readOnce(refresh);
      // a second pass over a long list would exceed MAX_BYTES
      const isDone = first.complete !== false || refresh.bytes > MAX_BYTES / 2;
      const outcome = isDone ? first : await this.#readOnce(refresh);
      this.#withSmallerPages = this.#pageSize < this.settings.BANK_PAGE_SIZE ? this.#withSmallerPages + 1 : 0;
      if (this.#withSmallerPages === REFRESHES_WITH_SMALLER_PAGES) this.#forget();
      return outcome;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** The next refresh begins like the first. */
  #forget(): void {
    this.#pageSize = this.settings.BANK_PAGE_SIZE;
    this.#withSmallerPages = 0;
    this.#expectedPages = 1;
  }

  async #readOnce(refresh: ListRefresh): Promise<ListOutcome> {
    for (let pageSize = this.#pageSize; ;) {
      const outcome = await this.#readPages(refresh, pageSize);
      if (!(outcome instanceof PageRejected)) {
        this.#pageSize = pageSize;
        return outcome;
      }
      const { smaller } = outcome;
      if (smaller < 1) throw outcome;
      this.#expectedPages = 1;
      const rejected = { event: 'bank.page-refused', refreshId: refresh.id, pageSize, next: smaller };
      this.log.logger.info(rejected, `the bank rejected a page of ${pageSize}; trying ${smaller} (see BANK_PAGE_SIZE)`);
      pageSize = smaller;
    }
  }

  async #readPages(refresh: ListRefresh, pageSize: number): Promise<ListOutcome | PageRejected> {
    const end = new AbortController();
    const signal = AbortSignal.any([refresh.signal, end.signal]);
    const paging = new Paging(pageSize);
    /** In page order, not used yet. */
    const requested: Promise<Answer>[] = [];
    let lastRequested = 0;
    let atOnce = this.settings.BANK_MAX_CONCURRENT_REQUESTS;
    let lastKnown = this.#expectedPages;
    try {
      for (let number = 1; number <= paging.last; number++) {
        const ahead = refresh.isOneByOne ? 0 : atOnce - 1;
        while (lastRequested < Math.min(lastKnown, number + ahead)) {
          lastRequested += 1;
          const answer = this.#get(refresh, lastRequested, pageSize, signal);
          // if the loop ends early, nothing awaits this response, and its rejection must not end the process
          answer.catch(() => undefined);
          requested.push(answer);
        }
        const answer = await (requested.shift() as Promise<Answer>);
        if (isPastTheEnd(answer, number, paging)) break;
        const rejected = toPageRejected(answer, number, pageSize);
        if (rejected) return rejected;
        if (answer.error) throw answer.error;
        const { body } = answer;
        refresh.bytes += body.length;
        if (refresh.bytes > MAX_BYTES) throw tooMuch('256 MB of pages');
        atOnce = Math.min(atOnce, Math.max(1, Math.floor(MAX_BYTES_AHEAD / body.length)));
        paging.add(await refresh.parsePage(number, body));
        lastKnown = paging.last;
      }
      this.#expectedPages = Math.min(paging.outcome.pages, atOnce);
      return paging.outcome;
    } finally {
      // one failed page ends the others
      end.abort(new Error('the pass has ended'));
    }
  }

  /** One page, with any status, retried as docs/calling-the-bank.md#retries lists. */
  async #get(refresh: ListRefresh, pageNumber: number, pageSize: number, signal: AbortSignal): Promise<Answer> {
    refresh.pagesAsked += 1;
    if (refresh.pagesAsked > MAX_PAGES) throw tooMuch(`${MAX_PAGES} pages`);
    const request = {
      path: ACCOUNTS_PATH,
      query: { PageNumber: String(pageNumber), PageSize: String(pageSize) },
      judge: (answer: WireAnswer) =>
        pageNumber > 1 && answer.status === 404 ? null : toAnswerError(answer, 'accounts'),
      refreshId: refresh.id,
      signal,
    };
    let result = await settled(this.call.get(request));
    let wait = waitAfter(result);
    if (!wait) return unwrap(result);
    if (wait.isAsked || refresh.retries.activeCount > 0) refresh.isOneByOne = true;
    return refresh.retries(async () => {
      for (let isRetried = false; wait && (wait.isAsked || !isRetried) && wait.until < refresh.endsAt;) {
        if (wait.isAsked) refresh.noteAsked(errorOf(result));
        await delay(Math.max(0, wait.until - performance.now()), undefined, { signal }).catch(() => {
          throw signal.reason;
        });
        refresh.noteAsked(null);
        isRetried ||= !wait.isAsked;
        result = await settled(this.call.get({ ...request, isFresh: !wait.isAsked }));
        wait = waitAfter(result);
      }
      return unwrap(result);
    });
  }
}

const tooMuch = (bound: string) =>
  new GatewayError('bank-response-invalid', `The account list has more than ${bound} in one refresh.`);

/** True for a 404 past page 1, and for a 400 once the bank's count is reached: there should be no such page. */
function isPastTheEnd({ status }: WireAnswer, number: number, { outcome }: Paging): boolean {
  return number > 1 && (status === 404 || (status === 400 && outcome.complete === true));
}

class PageRejected extends GatewayError {
  /** @param smaller the next size to try; below 1, there is none */
  constructor(
    error: GatewayError,
    readonly smaller: number,
  ) {
    super(error.code, error.detail, error);
  }
}

/** Statuses with another reason than the size. */
const NOT_OF_SIZE = new Set([401, 403, 429]);

/** After a 413, or a 400 that names the page size; for page 1 above the documented size, after other rejections too. */
function toPageRejected({ status, body, error }: Answer, number: number, size: number): PageRejected | null {
  if (!error) return null;
  const isNamed = status === 400 && /page_?size/i.test(body.toString('latin1', 0, MAX_SCANNED_BYTES));
  if (status === 413 || isNamed) {
    return new PageRejected(
      error.withSentence('It rejects every page size; check BANK_PAGE_SIZE.'),
      Math.floor(size / 2),
    );
  }
  const mayBeOfSize =
    status >= 400 && status < 500 && !NOT_OF_SIZE.has(status) && error.code !== 'certificate-rejected';
  return number === 1 && size > DOCUMENTED_SIZE && mayBeOfSize ? new PageRejected(error, DOCUMENTED_SIZE) : null;
}

const errorOf = (result: Answer | Error): GatewayError | null =>
  result instanceof Error ? toGatewayError(result) : result.error;

/** The wait before a page is asked for again; null if it is not. `until` is monotonic, ms. */
function waitAfter(result: Answer | Error): { readonly until: number; readonly isAsked: boolean } | null {
  const error = errorOf(result);
  const now = performance.now();
  const jitter = Math.random() * RETRY_AFTER_MS.spread;
  if (error?.isAskedToWait) {
    const ms = Math.max(ASKED_WAIT_MS, error.retryAfterMs ?? 0);
    return error instanceof NoToken && ms > MAX_TOKEN_WAIT_MS ? null : { until: now + ms + jitter, isAsked: true };
  }
  const isTransient =
    result instanceof Error
      ? isConnectionFailure(result)
      : // a Retry-After rules out an early retry
        RETRIED.has(result.status) && result.headers['retry-after'] === undefined;
  return isTransient ? { until: now + RETRY_AFTER_MS.min + jitter, isAsked: false } : null;
}

const settled = (call: Promise<Answer>): Promise<Answer | Error> => call.catch((error: Error) => error);

function unwrap(result: Answer | Error): Answer {
  if (result instanceof Error) throw result;
  return result;
}

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error instanceof NoToken || error instanceof ConnectTimedOut) return false;
  return error.code === 'bank-unreachable' || error.code === 'proxy-unavailable';
}
