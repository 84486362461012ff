import { AnswerCache } from './answer-cache.js';
import { assertDeadline, assertFunction } from './arguments.js';
import { callHandler } from './call-handler.js';
import {
  GatewayProblem,
  readProblem,
  toDeadlineProblem,
  toNetworkProblem,
  toUnexpectedAnswer,
} from './gateway-problem.js';
import type { Snapshot } from './generated/types.gen.js';
import { sleep, untilAborted } from './sleep.js';

export interface CallOptions {
  /** Aborts the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum duration of a call, ms, with its retries: a whole number up to 2 147 483 647. Default of the client: 30 000; of
   * a call: the client's.
   */
  readonly deadlineMs?: number | undefined;
  /** `false` disables retries: a 503 fails at once, even with a `Retry-After`. */
  readonly retry?: boolean | undefined;
  /** Called before each retry of a 503, before the wait of `retryAfterMs`. Default of a call: the client's. */
  readonly onRetry?: ((problem: GatewayProblem) => void) | undefined;
  /** Demands the result of a refresh from the bank, for example after a click on "refresh": never a stale copy. */
  readonly refresh?: boolean | undefined;
}

/** A parsed response with the facts from its headers. */
export interface Answer<T> {
  readonly body: T;
  readonly etag: string | null;
  /** Time until asking again is useful. */
  readonly maxAgeMs: number;
  /** Time until its snapshot expires; null if unknown. */
  readonly expiresInMs: number | null;
}

interface Defaults extends Pick<CallOptions, 'onRetry'> {
  readonly deadlineMs: number;
  readonly fetch: typeof fetch;
  readonly headers: Headers;
}

/** Reads JSON responses with ETags, within a deadline, with retries. */
export class AnswerReader {
  readonly #cache = new AnswerCache();
  /**
   * The cache mode of a call with an ETag. The call must reach the gateway, without a preflight each time if it is
   * cross-origin: `no-cache` achieves that in Firefox, `force-cache` in Chromium.
   */
  #revalidation: 'force-cache' | 'no-cache' = /Chrome\//.test(globalThis.navigator?.userAgent)
    ? 'force-cache'
    : 'no-cache';

  constructor(private readonly defaults: Defaults) {}

  /**
   * Returns the response, with the times of its headers.
   * @throws GatewayProblem, the reason of the caller's own signal, or TypeError for an invalid option
   */
  async read<T extends { snapshot: Snapshot }>(url: string, options: CallOptions): Promise<Answer<T>> {
    const { signal, retry = true, refresh } = options;
    const deadlineMs = options.deadlineMs ?? this.defaults.deadlineMs;
    assertDeadline(deadlineMs);
    assertFunction('onRetry', options.onRetry);
    const onRetry = options.onRetry ?? this.defaults.onRetry;
    signal?.throwIfAborted();
    const deadline = AbortSignal.timeout(deadlineMs);
    const either = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const endsAt = performance.now() + deadlineMs;
    try {
      for (;;) {
        const answer = await untilAborted(this.#readOnce<T>(url, refresh ? 'no-cache' : 'max-stale', either), either);
        if (!(answer instanceof GatewayProblem)) return answer;
        const { status, retryAfterMs } = answer;
        const possible = retry && status === 503 && retryAfterMs !== null;
        if (!possible || performance.now() + retryAfterMs >= endsAt) throw answer;
        if (onRetry) callHandler(onRetry, answer);
        await sleep(retryAfterMs, either);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline.aborted) throw toDeadlineProblem(error, url, deadlineMs);
      throw error instanceof GatewayProblem ? error : toNetworkProblem(error, url);
    }
  }

  async #readOnce<T extends { snapshot: Snapshot }>(
    url: string,
    cacheControl: string,
    signal: AbortSignal,
  ): Promise<Answer<T> | GatewayProblem> {
    const cached = this.#cache.get(url);
    const headers = new Headers(this.defaults.headers);
    headers.set('Accept', 'application/json');
    // always set: browsers add `no-cache` to a call with a manually set ETag, and each such call would refresh from the
    // bank
    headers.set('Cache-Control', cacheControl);
    if (cached) headers.set('If-None-Match', cached.etag);
    const askedAt = performance.now();
    const cache = cached ? this.#revalidation : 'no-cache';
    const response = await this.defaults.fetch(url, { headers, cache, ...(isAccepted(signal) && { signal }) });
    if (response.status !== 200 && response.status !== 304) return readProblem(response);
    // after a 304, too: browsers show a response that nobody reads as canceled
    const text = await response.text();
    if (response.status === 304 && cached) return toAnswer(response, cached.text, cached.etag, askedAt);
    const etag = response.headers.get('ETag');
    if (cache === 'force-cache' && etag === cached?.etag) {
      // the gateway would have answered 304: this browser takes `force-cache` literally
      this.#revalidation = 'no-cache';
      return this.#readOnce(url, cacheControl, signal);
    }
    const answer = toAnswer<T>(response, text, etag, askedAt);
    if (etag && !(answer instanceof GatewayProblem)) this.#cache.set(url, { etag, text });
    return answer;
  }
}

function toAnswer<T extends { snapshot: Snapshot }>(
  response: Response,
  text: string,
  etag: string | null,
  askedAt: number,
): Answer<T> | GatewayProblem {
  const { headers } = response;
  try {
    const body = JSON.parse(text) as T;
    if (typeof body.snapshot?.asOf !== 'string') throw new TypeError('no snapshot in it');
    const snapshot = toPresent(body.snapshot, headers);
    const expiresInMs = toExpiresInMs(snapshot, headers.get('Age'), askedAt);
    return { body: { ...body, snapshot }, etag, maxAgeMs: readFreshness(headers), expiresInMs };
  } catch (error) {
    return toUnexpectedAnswer(response, error);
  }
}

/** The snapshot with the times of the headers: after a 304, the body has those of an earlier response. */
const toPresent = (snapshot: Snapshot, headers: Headers): Snapshot => ({
  ...snapshot,
  asOf: headers.get('Snapshot-As-Of') ?? snapshot.asOf,
  expiresAt: headers.get('Snapshot-Expires-At') ?? snapshot.expiresAt,
});

/**
 * Computed from the time since the request and `Age`, which is in whole seconds, so that the reader's clock does not
 * matter; without `Age`, from that clock.
 */
function toExpiresInMs(snapshot: Snapshot, age: string | null, askedAt: number): number | null {
  const seconds = /^\d{1,9}$/.exec(age ?? '')?.[0];
  const ageMs = seconds === undefined ? Date.now() - Date.parse(snapshot.asOf) : (Number(seconds) + 1) * 1000;
  const lifeMs = Date.parse(snapshot.expiresAt) - Date.parse(snapshot.asOf);
  const left = lifeMs - ageMs - (performance.now() - askedAt);
  return Number.isNaN(left) ? null : left;
}

/** `max-age` less `Age`, ms. At most 6 digits: a timer of more than 24 days fires at once. */
function readFreshness(headers: Headers): number {
  const maxAge = /\bmax-age=(\d{1,6})/i.exec(headers.get('Cache-Control') ?? '')?.[1] ?? 0;
  return Math.max(0, Number(maxAge) - (Number(headers.get('Age')) || 0)) * 1000;
}

/**
 * False for a signal that the platform's `fetch` rejects, such as that of jsdom in the tests of an app. The call then
 * ends without it.
 */
function isAccepted(signal: AbortSignal): boolean {
  try {
    return Boolean(new Request('http://localhost', { signal }));
  } catch {
    return false;
  }
}
