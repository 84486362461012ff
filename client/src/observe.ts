import type { Answer } from './answer-reader.js';
import { assertFunction } from './arguments.js';
import { callHandler } from './call-handler.js';
import type { GatewayProblem } from './gateway-problem.js';
import type { AccountList } from './generated/types.gen.js';
import { startPolling, type Polling, type ReadList } from './polling.js';

/** The data that may be shown. */
interface Shown {
  /** `data.accounts` stays the same array while the data is the same. */
  readonly data: AccountList;
  /** Time of the request to the bank for `data`. */
  readonly asOf: string;
  /** Time at which `data` becomes null unless a new response comes first. */
  readonly expiresAt: string;
}

interface NothingShown {
  readonly data: null;
  readonly asOf: null;
  readonly expiresAt: null;
}

interface Failure {
  /** The last attempt's error; null after a successful response. */
  readonly error: GatewayProblem | null;
  /** With an error: the time of the next attempt; null if there is none. */
  readonly nextAttemptAt: string | null;
}

/**
 * The state to show now. It is frozen, and stays the same object until something changes. Its `status`:
 *
 * - `loading`: no response yet
 * - `current`: up to date
 * - `copy`: an older copy, because the bank, gateway or network is failing or slow: show `asOf`
 * - `expired`: there was data, and it may no longer be shown
 * - `ended`: an error that a retry cannot fix (4xx other than 408 and 429); `refresh` tries again
 */
export type ObservedState =
  | ({ readonly status: 'loading' | 'expired' } & NothingShown & Failure)
  | ({ readonly status: 'current'; readonly error: null; readonly nextAttemptAt: null } & Shown)
  | ({ readonly status: 'copy' } & Shown & Failure)
  | ({ readonly status: 'ended'; readonly error: GatewayProblem; readonly nextAttemptAt: null } & (
      Shown | NothingShown
    ));

/** Polls while somebody subscribes. Its functions need no `this`, so you can pass them to `useSyncExternalStore`. */
export interface Observed {
  readonly getSnapshot: () => ObservedState;
  /**
   * Calls the listener after each change of the state. Returns a function that unsubscribes it.
   * @throws TypeError if the listener is not a function
   */
  readonly subscribe: (listener: () => void) => () => void;
  /** Makes the gateway refresh from the bank now, if there are subscribers. */
  readonly refresh: () => void;
}

const NO_DATA = { data: null, asOf: null, expiresAt: null };
const LOADING: ObservedState = Object.freeze({ status: 'loading', ...NO_DATA, error: null, nextAttemptAt: null });

/** Maximum number of unused observers to keep, in case a holder of one subscribes later. */
const MAX_UNUSED = 100;

/** The observers of a client: one for each query. */
export class Observers {
  readonly #byQuery = new Map<string, Observer>();

  get(query: string, read: ReadList): Observed {
    const known = this.#byQuery.get(query);
    if (known) return known;
    if (this.#byQuery.size >= MAX_UNUSED) {
      for (const [key, { isUsed }] of this.#byQuery) if (!isUsed()) this.#byQuery.delete(key);
    }
    const created = observe(read);
    this.#byQuery.set(query, created);
    return created;
  }
}

interface Observer extends Observed {
  readonly isUsed: () => boolean;
}

function observe(read: ReadList): Observer {
  const listeners = new Set<() => void>();
  let state = LOADING;
  let etag: string | null = null;
  let polling: Polling | null = null;

  function set(next: ObservedState): void {
    state = Object.freeze(next);
    for (const listener of listeners) callHandler(listener);
  }
  function onAnswer({ body, etag: newTag }: Answer<AccountList>): void {
    const { snapshot } = body;
    const isSame = newTag !== null && newTag === etag;
    etag = newTag;
    const data = deepFreeze(isSame && state.data ? { ...state.data, snapshot } : body);
    const { asOf, expiresAt } = snapshot;
    const status = snapshot.stale ? 'copy' : 'current';
    if (isSame && state.data && state.error === null && state.status === status && state.asOf === asOf) return;
    set({ status, data, asOf, expiresAt, error: null, nextAttemptAt: null });
  }
  function onProblem(error: GatewayProblem, retryMs: number | null): void {
    if (retryMs === null) set({ ...state, status: 'ended', error, nextAttemptAt: null });
    else set(toFailing(state, error, new Date(Date.now() + retryMs).toISOString()));
  }
  function onExpired(): void {
    if (state.status === 'ended') set({ ...state, ...NO_DATA });
    else set({ ...state, ...NO_DATA, status: 'expired' });
  }

  /** Unless somebody has subscribed again at once, like a component that replaces another. */
  function stopIfUnused(): void {
    if (listeners.size > 0) return;
    polling?.close();
    polling = null;
    // nobody would notice if kept data expired
    state = LOADING;
  }

  return {
    getSnapshot: () => state,
    subscribe(listener) {
      assertFunction('observe: listener', listener, false);
      // a separate function for each call: a listener that subscribes twice must unsubscribe twice
      const own = () => listener();
      listeners.add(own);
      polling ??= startPolling(read, { onAnswer, onProblem, onExpired });
      return () => {
        listeners.delete(own);
        // not queueMicrotask, which the fake timers of Jest and Sinon replace: a test would end without it
        void Promise.resolve().then(stopIfUnused);
      };
    },
    refresh() {
      if (polling && state.status === 'ended') set(toFailing(state, state.error, null));
      polling?.refresh();
    },
    isUsed: () => listeners.size > 0,
  };
}

/** The state between a failure and the next response. */
function toFailing(state: ObservedState, error: GatewayProblem, nextAttemptAt: string | null): ObservedState {
  if (state.data) return { ...state, status: 'copy', error, nextAttemptAt };
  return { ...state, status: state.status === 'expired' ? 'expired' : 'loading', error, nextAttemptAt };
}

/** All components share the data. Values other than objects count as frozen. */
function deepFreeze<T>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const part of Object.values(value as object)) deepFreeze(part);
  return Object.freeze(value);
}
