import { assertFunction } from './arguments.js';
import { callHandler } from './call-handler.js';
import type { GatewayProblem } from './gateway-problem.js';
import type { AccountList, Snapshot } from './generated/types.gen.js';
import { startPolling, type Read } from './polling.js';

/** Ids of the accounts that differ from the previous response; empty for the first response. */
export interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Not called after `close()`. An error that a handler throws is reported as uncaught, or in Node printed. */
export interface WatchHandlers {
  /**
   * Called with the first successful response, also after an error or `onExpired`, and when accounts, `page`, `stale` or
   * `complete` have changed.
   */
  readonly onData: (answer: AccountList, changes: Changes) => void;
  /** Called with each successful response that `onData` does not receive: the same data, with its times. */
  readonly onConfirmed?: ((snapshot: Snapshot) => void) | undefined;
  /**
   * Called after each failed attempt. A 4xx other than 408 and 429 ends the watch, until `refresh`. `shown` is the snapshot of the data that
   * may stay on the screen, with the time at which it was last confirmed; null if none may.
   */
  readonly onError?: ((problem: GatewayProblem, shown: Snapshot | null) => void) | undefined;
  /** Called when the data may no longer be shown: the last response has expired, or access was withdrawn. */
  readonly onExpired?: (() => void) | undefined;
}

export interface Watch {
  /** Makes the gateway refresh from the bank now, for example after a click on "refresh". */
  refresh(): void;
  /** Stops polling. Further calls have no effect. */
  close(): void;
}

/** @throws TypeError without `onData`, or if a handler is not a function */
export function watch(read: Read<AccountList>, handlers: WatchHandlers, signal?: AbortSignal): Watch {
  assertHandlers(handlers);
  let previous: State | null = null;
  let shown: Snapshot | null = null;
  let isDue = true;
  return startPolling(
    read,
    {
      onAnswer({ body, etag }) {
        shown = body.snapshot;
        const state: State = etag !== null && etag === previous?.etag && !isDue ? previous : toState(body, etag);
        if (isDue || state.text !== previous?.text) callHandler(handlers.onData, body, toChanges(previous, state));
        else if (handlers.onConfirmed) callHandler(handlers.onConfirmed, body.snapshot);
        previous = state;
        isDue = false;
      },
      onProblem(problem) {
        isDue = true;
        if (handlers.onError) callHandler(handlers.onError, problem, shown);
      },
      onExpired() {
        shown = null;
        isDue = true;
        if (handlers.onExpired) callHandler(handlers.onExpired);
      },
    },
    signal,
  );
}

function assertHandlers(handlers: WatchHandlers): void {
  for (const name of ['onData', 'onConfirmed', 'onError', 'onExpired'] as const) {
    assertFunction(`watch: handlers.${name}`, handlers?.[name], name !== 'onData');
  }
}

/** The previous response, reduced to the parts that the next one is compared with. */
interface State {
  readonly etag: string | null;
  /** Everything except the times, which change even if the data does not. */
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
