import type { GatewayProblem } from '../gateway-problem.js';
import type { SnapshotEvent, StateEvent } from '../generated/types.gen.js';

/** None is called after `close()`; what one throws is reported, and changes nothing. */
export interface WatchHandlers {
  /** First of all, and after each reading whose data differ for the filter. Lists of ids are empty in the first one and with `many`. */
  readonly onSnapshot?: ((event: SnapshotEvent) => void) | undefined;
  /** Answers have become stale, or the bank fails; all is well again when `stale` is false and `code` null. */
  readonly onState?: ((event: StateEvent) => void) | undefined;
  /** What was missed is not known: read all again. An `onSnapshot` with empty lists follows. */
  readonly onReset?: (() => void) | undefined;
  /** The connection failed. `retryAfterMs` says when it is tried again; null: the watch has ended by itself. */
  readonly onError?: ((problem: GatewayProblem) => void) | undefined;
  /** Whether changes arrive at the moment; told at each change. */
  readonly onConnection?: ((connected: boolean) => void) | undefined;
}

export interface Watch {
  /** Ends it; more than once does nothing. */
  close(): void;
}

/** What is wanted of the feed, and how it is asked for. */
export interface Feed {
  /** With the filter in one order, so that it also names what tabs share. */
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly headers: Headers;
}

/** A problem as data, since errors lose their fields on the way to another tab. */
export type ProblemData = Pick<GatewayProblem, 'code' | 'owner' | 'message' | 'status' | 'retryAfterMs' | 'requestId'>;

/** What a connection tells its listeners. `id` is where a later connection resumes; null before the first. */
export type FeedMessage =
  | { readonly type: 'snapshot'; readonly id: string | null; readonly event: SnapshotEvent }
  | { readonly type: 'state'; readonly id: string | null; readonly event: StateEvent }
  | { readonly type: 'reset'; readonly id: string | null }
  | { readonly type: 'id'; readonly id: string | null }
  | { readonly type: 'connection'; readonly connected: boolean }
  | { readonly type: 'error'; readonly problem: ProblemData };
