import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AuthorizedCall, NoToken } from '../auth/authorized-call.js';
import { Clock } from '../time/clock.js';
import { toAnswerError } from '../egress/answer-error.js';
import { ProxyTimedOut } from '../egress/open-tunnel.js';
import type { WireAnswer } from '../egress/wire-client.js';
import { GatewayError } from '../problems/gateway-error.js';

/** Path of the account list below {base_url} (docs/bank.md#account-list). */
const ACCOUNTS_PATH = '/api/v1/accounts';
const RETRY_AFTER_MS = { min: 100, spread: 200 };
const RETRIED = new Set([502, 503, 504]);
/** Maximum number of bytes of an error body that are searched for the page size. */
const MAX_LOOKED_AT = 65_536;

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error instanceof NoToken || error instanceof ProxyTimedOut) return false;
  return error.code === 'bank-unreachable' || error.code === 'proxy-unavailable';
}

/**
 * The bytes of a page, not parsed yet; `past-end`: a 404 after the first page; `too-large`: a 413, or a 400 that names the
 * page size.
 */
export type PageAnswer = Buffer | 'past-end' | 'too-large';

/** One page of the list, requested within one refresh; `signal` ends it. */
export interface PageRequest {
  readonly pageNumber: number;
  readonly pageSize: number;
  readonly refreshId: string;
  readonly signal: AbortSignal;
}

/** Requests single pages; knows their path, parameters and statuses. */
@Injectable()
export class PageSource {
  constructor(
    private readonly call: AuthorizedCall,
    private readonly clock: Clock,
  ) {}

  /**
   * One page as it came; retried once after a connection failure, a 502, 503 or 504 (docs/architecture.md#every-retry).
   * @throws GatewayError as `AuthorizedCall.get` and `toAnswerError`
   */
  async get(request: PageRequest): Promise<PageAnswer> {
    const answer = await this.#getWithRetry(request);
    const { status, body } = answer;
    if (status === 404 && request.pageNumber > 1) return 'past-end';
    if (status === 413) return 'too-large';
    if (status === 400 && /page_?size/i.test(body.toString('latin1', 0, MAX_LOOKED_AT))) return 'too-large';
    const error = toAnswerError(answer, 'accounts', this.clock.now().wall);
    if (error) throw error;
    return body;
  }

  async #getWithRetry(request: PageRequest): Promise<WireAnswer> {
    try {
      const answer = await this.#getOnce(request);
      // after a Retry-After the bank is not asked sooner
      if (!RETRIED.has(answer.status) || answer.retryAfter !== null) return answer;
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
    }
    const { signal } = request;
    await delay(RETRY_AFTER_MS.min + Math.random() * RETRY_AFTER_MS.spread, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
    return this.#getOnce(request);
  }

  #getOnce({ pageNumber, pageSize, refreshId, signal }: PageRequest): Promise<WireAnswer> {
    return this.call.get({
      path: ACCOUNTS_PATH,
      query: { PageNumber: String(pageNumber), PageSize: String(pageSize) },
      ...(pageNumber > 1 && { expected: [404] }),
      refreshId,
      signal,
    });
  }
}
