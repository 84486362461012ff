import type { Answer, CallOptions } from './answer-reader.js';
import { Expiry } from './expiry.js';
import { GatewayProblem } from './gateway-problem.js';

export interface PollHandlers<T> {
  /**
   * Receives a successful response. Its data may be shown until `onExpired`. `isCatchUp` is true if `catchUp` made the
   * attempt.
   */
  onAnswer(answer: Answer<T>, isCatchUp: boolean): void;
  /** Receives a failed attempt, and the time until the next one; null if there is none. */
  onProblem(problem: GatewayProblem, retryMs: number | null): void;
  /** Called once when the data may no longer be shown. */
  onExpired(): void;
}

export interface Polling {
  /** Makes the gateway refresh now, or as soon as the attempt under way has ended. Starts ended polling again. */
  refresh(): void;
  /** Polls now, or as soon as the attempt under way has ended. Does not start ended polling again. */
  catchUp(): void;
  /** Stops. No handler is called afterwards. */
  close(): void;
}

/** Makes the polled call with these options. @throws GatewayProblem; TypeError without a page's origin; the signal's reason */
export type Read<T> = (options: CallOptions) => Promise<Answer<T>>;

/** Freshness is in whole seconds, rounded down: a poll one second later gets new data. */
const MARGIN_MS = 1000;
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [1000, 30_000];

/** Polls until `close()`, an abort of the signal, or an error that a retry on its own cannot fix. */
export function startPolling<T>(read: Read<T>, handlers: PollHandlers<T>, signal?: AbortSignal): Polling {
  const closed = new AbortController();
  const ended = signal ? AbortSignal.any([signal, closed.signal]) : closed.signal;
  // even after an error that ends the polling: the data is on the screen until `close()`
  const expiry = new Expiry(() => handlers.onExpired());
  ended.addEventListener('abort', () => expiry.set(null));
  /** Why the next attempt does not wait; null if it does. */
  let due: 'refresh' | 'catch-up' | null = null;
  let isRunning = false;
  let waiting = new AbortController();

  async function run(): Promise<void> {
    isRunning = true;
    let failures = 0;
    while (!ended.aborted) {
      const why = due;
      due = null;
      let waitMs: number;
      try {
        const answer = await read({ signal: ended, retry: false, refresh: why === 'refresh' });
        if (ended.aborted) return;
        waitMs = answer.maxAgeMs + MARGIN_MS;
        failures = 0;
        const { expiresInMs } = answer;
        // a copy in its last second would only flash by
        if (expiresInMs !== null && expiresInMs <= 0) expiry.end();
        else {
          handlers.onAnswer(answer, why === 'catch-up');
          expiry.set(expiresInMs);
        }
      } catch (error) {
        if (ended.aborted) return;
        const problem = error instanceof GatewayProblem ? error : toArgumentProblem(error as Error);
        waitMs = problem.retryAfterMs ?? Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
        failures += 1;
        if (problem.code === 'access-not-granted') expiry.end();
        else expiry.check();
        const isFinal = cannotRecover(problem);
        isRunning = !isFinal;
        handlers.onProblem(problem, isFinal ? null : waitMs);
        if (isFinal) return;
      }
      waiting = new AbortController();
      if (due === null) await untilDue(waitMs, AbortSignal.any([ended, waiting.signal]));
      expiry.check();
    }
  }
  void run();
  return {
    close: () => closed.abort(),
    refresh() {
      due = 'refresh';
      waiting.abort();
      if (!isRunning && !ended.aborted) void run();
    },
    catchUp() {
      due ??= isRunning ? 'catch-up' : null;
      waiting.abort();
    },
  };
}

/** A call that could not be made: `baseUrl` is '', and there is no page. */
const toArgumentProblem = (cause: Error): GatewayProblem =>
  new GatewayProblem({ code: 'network-error', owner: 'network', message: cause.message, cause });

const cannotRecover = ({ status }: GatewayProblem): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Browser globals that Node lacks. */
interface Page extends Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>> {
  readonly document?: EventTarget & { readonly visibilityState: string };
}

/**
 * Waits for this many ms, in a hidden tab also until it is visible. Ends early when the tab becomes visible, the network
 * returns to a visible one, or `ended` aborts.
 */
function untilDue(ms: number, ended: AbortSignal): Promise<void> {
  const { document, addEventListener, removeEventListener } = globalThis as Page;
  const isHidden = () => document?.visibilityState === 'hidden';
  return new Promise((resolve) => {
    // without the option `signal`: jsdom, in the tests of an app, may reject the signal of the platform
    const done = () => {
      clearTimeout(timer);
      document?.removeEventListener('visibilitychange', unlessHidden);
      removeEventListener?.('online', unlessHidden);
      ended.removeEventListener('abort', done);
      resolve();
    };
    const unlessHidden = () => isHidden() || done();
    const timer = setTimeout(unlessHidden, ms);
    document?.addEventListener('visibilitychange', unlessHidden);
    addEventListener?.('online', unlessHidden);
    if (ended.aborted) done();
    else ended.addEventListener('abort', done);
  });
}
