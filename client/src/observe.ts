import type { Answer } from './answer-reader.js';
import { assertFunction } from './arguments.js';
import { callHandler } from './call-handler.js';
import type { GatewayProblem } from './gateway-problem.js';
import type { AccountList, Snapshot } from './generated/types.gen.js';
import { startPolling, type Polling, type Read } from './polling.js';

/** A response that can be observed: a page of the list, or totals. */
interface Body {
  readonly snapshot: Snapshot;
}

/** The data that may be shown. */
interface Shown<T> {
  /** Its lists stay the same arrays while the data is the same. */
  readonly data: T;
  /** Time of the request to the bank for `data`. */
  readonly asOf: string;
  /** `data` becomes null by then unless a new response comes first. */
  readonly expiresAt: string;
}

interface NothingShown {
  readonly data: null;
  readonly asOf: null;
  readonly expiresAt: null;
}

interface NoFailure {
  readonly error: null;
  readonly nextAttemptAt: null;
}

interface Failure {
  /** The last attempt's error; null after a successful response. */
  readonly error: GatewayProblem | null;
  /** With an error: the time of the next attempt; null while `refresh` makes it. */
  readonly nextAttemptAt: string | null;
}

/**
 * The state to show now. It is frozen, and stays the same object until something changes. Its `status`:
 *
 * - `loading`: no response yet
 * - `current`: up to date
 * - `copy`: an older copy: show `asOf`
 * - `expired`: there is no data that may be shown
 * - `ended`: an error that a retry cannot fix (4xx other than 408 and 429); `refresh` tries again
 */
export type ObservedState<T = AccountList> =
  | ({ readonly status: 'loading' } & NothingShown & NoFailure)
  | ({ readonly status: 'current' } & Shown<T> & NoFailure)
  | ({ readonly status: 'copy' } & Shown<T> & Failure)
  | ({ readonly status: 'expired' } & NothingShown & Failure)
  | ({ readonly status: 'ended'; readonly error: GatewayProblem; readonly nextAttemptAt: null } & (
      Shown<T> | NothingShown
    ));

/** Polls while somebody subscribes. Its functions need no `this`, so you can pass them to `useSyncExternalStore`. */
export interface Observed<T = AccountList> {
  readonly getSnapshot: () => ObservedState<T>;
  /**
   * Calls the listener after each change of the state. Returns a function that unsubscribes it.
   * @throws TypeError if the listener is not a function
   */
  readonly subscribe: (listener: () => void) => () => void;
  /** Makes the gateway refresh from the bank now, if there are subscribers. */
  readonly refresh: () => void;
}

const NO_DATA = { data: null, asOf: null, expiresAt: null };
const LOADING: ObservedState<never> = Object.freeze({
  status: 'loading',
  ...NO_DATA,
  error: null,
  nextAttemptAt: null,
});

/** From this number of observers on, a new one replaces the unused ones, whose holders could still subscribe. */
const MAX_UNUSED = 100;

/**
 * The observers of a client: one for each query. When one gets a newer snapshot, those with an older one poll at once, so
 * that the lists and totals of a page belong together.
 */
export class Observers {
  readonly #byQuery = new Map<string, Observer<Body>>();

  /** @param query path and query of the call, whose response is a T */
  get<T extends Body>(query: string, read: Read<T>): Observed<T> {
    const known = this.#byQuery.get(query);
    if (known) return known as Observer<T>;
    if (this.#byQuery.size >= MAX_UNUSED) {
      for (const [key, { isUsed }] of this.#byQuery) if (!isUsed()) this.#byQuery.delete(key);
    }
    const created = observe(read, (asOf) => {
      for (const { catchUp } of this.#byQuery.values()) catchUp(asOf);
    });
    this.#byQuery.set(query, created);
    return created;
  }
}

interface Observer<T> extends Observed<T> {
  readonly isUsed: () => boolean;
  /** Polls now if the data is older than this. */
  readonly catchUp: (asOf: string) => void;
}

/** @param onNewer called with the `asOf` of a newer snapshot, unless `catchUp` got it */
function observe<T extends Body>(read: Read<T>, onNewer: (asOf: string) => void): Observer<T> {
  const listeners = new Set<() => void>();
  let state: ObservedState<T> = LOADING;
  let etag: string | null = null;
  let polling: Polling | null = null;

  function set(next: ObservedState<T>): void {
    state = Object.freeze(next);
    for (const listener of listeners) callHandler(listener);
  }
  function onAnswer({ body, etag: newTag }: Answer<T>, isCatchUp: boolean): void {
    const { snapshot } = body;
    const isSame = newTag !== null && newTag === etag;
    etag = newTag;
    const data = deepFreeze(isSame && state.data ? { ...state.data, snapshot } : body);
    const { asOf, expiresAt } = snapshot;
    const status = snapshot.stale ? 'copy' : 'current';
    if (isSame && state.data && state.error === null && state.status === status && state.asOf === asOf) return;
    const isNewer = asOf > (state.asOf ?? '');
    set({ status, data, asOf, expiresAt, error: null, nextAttemptAt: null });
    // else two observers of a gateway without a cache would wake each other for ever
    if (isNewer && !isCatchUp) onNewer(asOf);
  }
  function onProblem(error: GatewayProblem, retryMs: number | null): void {
    if (retryMs === null) set({ ...state, status: 'ended', error, nextAttemptAt: null });
    else set(toFailing(state, error, new Date(Date.now() + retryMs).toISOString()));
  }
  function onExpired(): void {
    if (state.status === 'ended') set({ ...state, ...NO_DATA });
    else set({ ...state, ...NO_DATA, status: 'expired' });
  }

  /** Stops, unless somebody has subscribed again at once, like a component that replaces another. */
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
    catchUp(asOf) {
      if (state.asOf !== null && state.asOf < asOf) polling?.catchUp();
    },
  };
}

/** The state between a failure and the next response. */
const toFailing = <T>(state: ObservedState<T>, error: GatewayProblem, nextAttemptAt: string | null) =>
  ({ ...state, status: state.data === null ? 'expired' : 'copy', error, nextAttemptAt }) as ObservedState<T>;

/** All components share the data. Values other than objects count as frozen. */
function deepFreeze<T>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const part of Object.values(value as object)) deepFreeze(part);
  return Object.freeze(value);
}
