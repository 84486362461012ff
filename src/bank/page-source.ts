import { setTimeout as delay } from 'node:timers/promises';
import { NoToken, type AuthorizedCall } from '../auth/authorized-call.js';
import type { Clock } from '../time/clock.js';
import { startOf, toStatusError } from '../egress/answer.js';
import type { WireAnswer } from '../egress/egress.js';
import { ProxyTimedOut } from '../egress/wire-failure.js';
import { codeOf, GatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';

/** Path of the account list below {base_url} (docs/bank.md#account-list). */
const ACCOUNTS_PATH = '/api/v1/accounts';
const ACCOUNT_LIST = 'the account list';
const REPEAT_AFTER_MS = { min: 100, spread: 200 };
/** Of a refusal, to see whether it names the page size. */
const MAX_LOOKED_AT = 65_536;
const REPEATABLE = new Set([502, 503, 504]);

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error instanceof NoToken || error instanceof ProxyTimedOut) return false;
  return error.code === 'bank-unreachable' || error.code === 'proxy-unavailable';
}

/** What asking for one page came to. */
export type PageAnswer =
  /** 200, not looked at yet. */
  | { readonly kind: 'page'; readonly pieces: readonly Buffer[] }
  /** 404: no access granted on the first page, the end of the list on later ones. */
  | { readonly kind: 'not-found' }
  /** 413, or a 400 that names the page size. */
  | { readonly kind: 'too-large' };

/** One page of the list, asked for within one reading; `signal` ends it. */
export interface PageRequest {
  readonly pageNumber: number;
  readonly pageSize: number;
  readonly refreshId: string;
  readonly signal: AbortSignal;
}

/** Asks the bank for single pages; knows its path, its parameters and what its statuses mean. */
export class PageSource {
  readonly #call: AuthorizedCall;
  readonly #clock: Clock;

  constructor(call: AuthorizedCall, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  /**
   * One page as it came, asked for a second time after a connection failure, a 502, 503 or 504 (docs/architecture.md#every-repeat).
   * @throws GatewayError as `AuthorizedCall.get`; bank-refused, bank-rate-limited, bank-error, bank-response-invalid
   */
  async get(request: PageRequest): Promise<PageAnswer> {
    return this.#read(await this.#getRepeated(request));
  }

  #read(answer: WireAnswer): PageAnswer {
    switch (answer.status) {
      case 200:
        return { kind: 'page', pieces: answer.pieces };
      case 404:
        return { kind: 'not-found' };
      case 413:
        return { kind: 'too-large' };
      case 400:
        if (/page_?size/i.test(startOf(answer, MAX_LOOKED_AT))) return { kind: 'too-large' };
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

  /** What an answer is counted as; the end of the list, and a page that was too large, are no failures. */
  #judge(answer: WireAnswer, pageNumber: number): ProblemCode | null {
    return answer.status === 404 && pageNumber === 1 ? 'access-not-granted' : codeOf(() => this.#read(answer));
  }

  #getOnce({ pageNumber, pageSize, refreshId, signal }: PageRequest): Promise<WireAnswer> {
    return this.#call.get({
      target: ACCOUNT_LIST,
      path: ACCOUNTS_PATH,
      query: { PageNumber: String(pageNumber), PageSize: String(pageSize) },
      refreshId,
      signal,
      counted: { endpoint: 'accounts', judge: (answer) => this.#judge(answer, pageNumber) },
    });
  }
}
