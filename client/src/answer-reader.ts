import { AnswerCache } from './answer-cache.js';
import { GatewayProblem, readProblem, toNetworkProblem, toUnexpectedAnswer } from './gateway-problem.js';
import type { Snapshot } from './generated/types.gen.js';
import { sleep } from './sleep.js';

interface AnswerReaderParts {
  readonly fetch: typeof fetch;
  readonly headers: Headers;
  readonly deadlineMs: number;
}

export interface CallOptions {
  /** Ends the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Has the bank asked now, as after a click on "refresh"; never a stale answer. */
  readonly refresh?: boolean | undefined;
}

/** Reads JSON answers with their tags: within a deadline, repeated on 503, errors as GatewayProblem. */
export class AnswerReader {
  readonly #parts: AnswerReaderParts;
  readonly #cache = new AnswerCache();

  constructor(parts: AnswerReaderParts) {
    this.#parts = parts;
  }

  /**
   * The body of the answer, with `asOf` of its headers (docs/api.md#headers).
   * @throws GatewayProblem, or the reason of the caller's own signal
   */
  async read<T extends { snapshot: Snapshot }>(url: string, { signal, refresh }: CallOptions): Promise<T> {
    signal?.throwIfAborted();
    const { deadlineMs } = this.#parts;
    const deadline = AbortSignal.timeout(deadlineMs);
    const either = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const endsAt = performance.now() + deadlineMs;
    try {
      for (;;) {
        const outcome = await this.#readOnce<T>(url, refresh ? 'no-cache' : 'max-stale', either);
        if (!(outcome instanceof GatewayProblem)) return outcome;
        const { status, retryAfterMs } = outcome;
        if (status !== 503 || retryAfterMs === null || performance.now() + retryAfterMs >= endsAt) throw outcome;
        await sleep(retryAfterMs, either);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline.aborted) throw toDeadlineProblem(deadlineMs, error);
      throw error instanceof GatewayProblem ? error : toNetworkProblem(error);
    }
  }

  async #readOnce<T extends { snapshot: Snapshot }>(
    url: string,
    cacheControl: string,
    signal: AbortSignal,
  ): Promise<T | GatewayProblem> {
    const kept = this.#cache.get(url);
    const headers = new Headers(this.#parts.headers);
    headers.set('Accept', 'application/json');
    // said always: a browser adds `no-cache` to a call with a tag set by hand, and every one of those would ask the bank
    headers.set('Cache-Control', cacheControl);
    if (kept) headers.set('If-None-Match', kept.etag);
    // `no-store`: the tags are kept here, and the browser's own cache would answer with headers of an older answer
    const response = await this.#parts.fetch(url, { headers, signal, cache: 'no-store' });
    if (response.status === 304 && kept) return toBody(response, kept.text);
    if (response.status !== 200) return readProblem(response);
    const text = await response.text();
    const body = toBody<T>(response, text);
    const etag = response.headers.get('ETag');
    if (etag && !(body instanceof GatewayProblem)) this.#cache.set(url, { etag, text });
    return body;
  }
}

function toBody<T extends { snapshot: Snapshot }>(response: Response, text: string): T | GatewayProblem {
  try {
    const body = JSON.parse(text) as T;
    const { snapshot } = body;
    if (typeof snapshot?.asOf !== 'string') throw new TypeError('no snapshot in it');
    return { ...body, snapshot: { ...snapshot, asOf: response.headers.get('Snapshot-As-Of') ?? snapshot.asOf } };
  } catch (error) {
    return toUnexpectedAnswer(response, 'An answer that is not what the gateway gives.', error);
  }
}

const toDeadlineProblem = (deadlineMs: number, cause: unknown): GatewayProblem =>
  new GatewayProblem({
    code: 'deadline-exceeded',
    owner: 'network',
    message: `No answer within ${deadlineMs} ms.`,
    cause,
  });
