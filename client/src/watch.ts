import type { Answer } from './answer-reader.js';
import { callHandler } from './call-handler.js';
import { Expiry } from './expiry.js';
import { GatewayProblem, toNetworkProblem } from './gateway-problem.js';
import type { AccountList, Snapshot } from './generated/types.gen.js';

/** Ids of the accounts that differ from the previous answer; empty for the first answer. */
export interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Not called after `close()`. Errors thrown by a handler are reported as uncaught, and the watch continues. */
export interface WatchHandlers {
  /** Called when accounts, `stale` or `complete` changed, and with the first good answer after an error or `onExpired`. */
  readonly onData: (answer: AccountList, changes: Changes) => void;
  /** Called with each good answer that `onData` is not called with: the same data, with newer times. */
  readonly onConfirmed?: ((snapshot: Snapshot) => void) | undefined;
  /**
   * Called after each failed attempt. A 4xx other than 408 and 429 ends the watch. `shown` is the snapshot of the data that
   * may stay on the screen, with the time at which it was last confirmed; null if none may.
   */
  readonly onError?: ((problem: GatewayProblem, shown: Snapshot | null) => void) | undefined;
  /** Called when the last answer expires and there is no newer one: remove its data from the screen. */
  readonly onExpired?: (() => void) | undefined;
}

export interface Watch {
  /** Stops polling. Further calls have no effect. */
  close(): void;
}

const [MIN_POLL_MS, FIRST_RETRY_MS, MAX_RETRY_MS] = [1000, 1000, 30_000];
/** A timer of more ms ends at once. */
const MAX_POLL_MS = 2 ** 31 - 1;

type Poll = (signal: AbortSignal) => Promise<Answer<AccountList>>;

/**
 * Polls until `close()`, an abort of the signal, or an error that a retry cannot fix.
 * @throws TypeError without `onData`
 */
export function watch(poll: Poll, handlers: WatchHandlers, signal?: AbortSignal): Watch {
  assertHandlers(handlers);
  const ended = new AbortController();
  const close = () => ended.abort();
  if (signal?.aborted) close();
  signal?.addEventListener('abort', close, { once: true, signal: ended.signal });
  void run(poll, handlers, ended.signal);
  return { close };
}

function assertHandlers(handlers: WatchHandlers): void {
  if (typeof handlers.onData !== 'function') throw new TypeError('watch: the handler onData is missing.');
}

async function run(poll: Poll, handlers: WatchHandlers, ended: AbortSignal): Promise<void> {
  let previous: State | null = null;
  let failures = 0;
  let shown: Snapshot | null = null;
  // also after an error that ends the polling: the data is on the screen until `close()`
  const expiry = new Expiry(() => {
    shown = null;
    if (handlers.onExpired) callHandler(handlers.onExpired);
  });
  ended.addEventListener('abort', () => expiry.set(null));
  while (!ended.aborted) {
    let waitMs: number;
    try {
      const { body, etag, maxAgeMs, expiresInMs } = await poll(ended);
      if (ended.aborted) return;
      waitMs = Math.min(Math.max(maxAgeMs, MIN_POLL_MS), MAX_POLL_MS);
      const isDue = failures > 0 || shown === null;
      shown = body.snapshot;
      failures = 0;
      const state: State = etag !== null && etag === previous?.etag && !isDue ? previous : toState(body, etag);
      if (isDue || state.text !== previous?.text) callHandler(handlers.onData, body, toChanges(previous, state));
      else if (handlers.onConfirmed) callHandler(handlers.onConfirmed, body.snapshot);
      previous = state;
      expiry.set(expiresInMs);
    } catch (error) {
      if (ended.aborted) return;
      expiry.check();
      const problem = error instanceof GatewayProblem ? error : toNetworkProblem(error);
      if (problem.code === 'access-not-granted') {
        shown = null;
        expiry.set(null);
      }
      if (handlers.onError) callHandler(handlers.onError, problem, shown);
      if (isFinal(problem)) return;
      waitMs = problem.retryAfterMs ?? Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
      failures += 1;
    }
    await untilDue(waitMs, ended);
    expiry.check();
  }
}

const isFinal = ({ status }: GatewayProblem): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** The previous answer, reduced to what the next one is compared with. */
interface State {
  readonly etag: string | null;
  /** Everything except `asOf`, which changes even if the data does not. */
  readonly text: string;
  readonly accounts: ReadonlyMap<string, string>;
}

function toState(body: AccountList, etag: string | null): State {
  const { stale, complete } = body.snapshot;
  const accounts = new Map(body.accounts.map((account) => [account.id, JSON.stringify(account)]));
  return { etag, accounts, text: JSON.stringify([stale, complete, body.page, ...accounts.values()]) };
}

function toChanges(previous: State | null, { accounts }: State): Changes {
  const before = previous?.accounts ?? accounts;
  const ids = [...accounts.keys()];
  return {
    added: ids.filter((id) => !before.has(id)),
    changed: ids.filter((id) => before.has(id) && before.get(id) !== accounts.get(id)),
    removed: [...before.keys()].filter((id) => !accounts.has(id)),
  };
}

/** Globals of a page that Node lacks. */
interface Page {
  readonly document?: EventTarget & { readonly visibilityState: string };
  readonly addEventListener?: EventTarget['addEventListener'];
}

/** Waits for this many ms and, in a hidden tab, until the tab is visible. Ends early when the tab becomes visible or the network returns. */
function untilDue(ms: number, ended: AbortSignal): Promise<void> {
  const { document, addEventListener } = globalThis as Page;
  const isHidden = () => document?.visibilityState === 'hidden';
  return new Promise((resolve) => {
    const listening = new AbortController();
    const { signal } = listening;
    const done = () => {
      clearTimeout(timer);
      listening.abort();
      resolve();
    };
    const unlessHidden = () => isHidden() || done();
    const timer = setTimeout(unlessHidden, ms);
    document?.addEventListener('visibilitychange', unlessHidden, { signal });
    addEventListener?.('online', unlessHidden, { signal });
    if (ended.aborted) done();
    else ended.addEventListener('abort', done, { signal });
  });
}
