import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { NoToken, type AuthorizedCall } from '../auth/authorized-call.js';
import type { Clock } from '../clock.js';
import { toStatusError, toText } from '../egress/answer.js';
import type { WireAnswer } from '../egress/egress.js';
import { ProxyTimedOut } from '../egress/wire-failure.js';
import { GatewayError } from '../problems/gateway-error.js';
import { readBankAccount, type BankAccount } from './bank-account.js';
import { readPage } from './read-page.js';

/** Path of the account list below {base_url} (bank-interface §4.2). */
const ACCOUNTS_PATH = '/api/v1/accounts';
const ACCOUNT_LIST = 'the account list';
const REPEAT_AFTER_MS = { min: 100, spread: 200 };
const REPEATABLE = new Set([502, 503, 504]);

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error instanceof NoToken || error instanceof ProxyTimedOut) return false;
  return error.code === 'bank-unavailable' || error.code === 'proxy-unavailable';
}

/** What asking for one page came to. */
export type PageAnswer =
  | {
      readonly kind: 'page';
      readonly accounts: readonly BankAccount[];
      readonly rowCount: number | null;
      readonly echoedSize: number | null;
      /** Characters of the document. */
      readonly length: number;
    }
  | PageRefusal;

export type PageRefusal =
  /** 404: no access granted on the first page, the end of the list on later ones. */
  | { readonly kind: 'not-found' }
  /** 413, or a 400 that names the page size. */
  | { readonly kind: 'too-large' };

export interface PageRequest {
  readonly pageNumber: number;
  readonly pageSize: number;
  readonly readingId: string;
  readonly signal: AbortSignal;
}

/** Asks the bank for single pages; knows its path, its parameters and what its statuses mean. */
export class PageSource {
  readonly #call: AuthorizedCall;
  readonly #clock: Clock;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(call: AuthorizedCall, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  /** One page, read. @throws GatewayError as `ask`, and bank-response-invalid naming the place */
  async get(request: PageRequest): Promise<PageAnswer> {
    const asked = await this.ask(request);
    if (asked.kind !== 'answer') return asked;
    await this.#ownTurn();
    const page = readPage(asked.text, request.pageNumber);
    const accounts = page.rows.map((row, index) => readBankAccount(row, `${page.path}[${index}]`));
    return { kind: 'page', accounts, rowCount: page.rowCount, echoedSize: page.echoedSize, length: asked.text.length };
  }

  /**
   * The text of one page, asked for a second time after a connection failure, a 502, 503 or 504 (contract §6).
   * @throws GatewayError as `AuthorizedCall.get`; bank-refused, bank-rate-limited, bank-unavailable, bank-response-invalid
   */
  async ask(request: PageRequest): Promise<{ readonly kind: 'answer'; readonly text: string } | PageRefusal> {
    const answer = await this.#getRepeated(request);
    switch (answer.status) {
      case 200:
        return { kind: 'answer', text: toText(answer, ACCOUNT_LIST) };
      case 404:
        return { kind: 'not-found' };
      case 413:
        return { kind: 'too-large' };
      case 400:
        if (/page_?size/i.test(answer.body.toString('latin1'))) return { kind: 'too-large' };
        break;
      case 401:
        throw new GatewayError(
          'bank-refused',
          'The account list answered 401 again, less than 5 s after a new token was got for the same reason.',
        );
    }
    throw toStatusError(answer, 'The account list', this.#clock.now().wall);
  }

  async #getRepeated(request: PageRequest): Promise<WireAnswer> {
    try {
      const answer = await this.#getOnce(request);
      // a bank that says when to come back is not asked sooner
      if (!REPEATABLE.has(answer.status) || answer.retryAfter !== null) return answer;
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
    }
    await delay(REPEAT_AFTER_MS.min + Math.random() * REPEAT_AFTER_MS.spread, undefined, {
      signal: request.signal,
    }).catch(() => {
      throw request.signal.reason;
    });
    return this.#getOnce(request);
  }

  /** Pages that came at once are read one in a turn of the event loop, so that callers are answered in between. */
  #ownTurn(): Promise<unknown> {
    this.#lastTurn = this.#lastTurn.then(() => nextTurn());
    return this.#lastTurn;
  }

  #getOnce({ pageNumber, pageSize, readingId, signal }: PageRequest): Promise<WireAnswer> {
    return this.#call.get({
      target: ACCOUNT_LIST,
      path: ACCOUNTS_PATH,
      query: { PageNumber: String(pageNumber), PageSize: String(pageSize) },
      readingId,
      signal,
    });
  }
}
