import type { Instant } from '../time/clock.js';
import type { NoteAsked } from '../bank/account-reader.js';
import type { Stopwatch } from '../time/stopwatch.js';
import type { ListThread } from './list-thread.js';

/** The bank's accounts after one refresh. Never changed. */
export interface Snapshot {
  /** Answers queries about the accounts; ends some time after the snapshot was replaced. */
  readonly list: Pick<ListThread, 'document' | 'pieces' | 'toJson' | 'retire' | 'end' | 'hasEnded' | 'lost'>;
  /** Accounts. */
  readonly size: number;
  /** Time just before the first call to the bank, by the clocks of this process. */
  readonly askedAt: Instant;
  /** The same time, ISO 8601. */
  readonly asOf: string;
  /** Of the refresh, in the instance that ran it. */
  readonly durationMs: number;
  /** As in `ListOutcome`. */
  readonly complete: boolean | null;
  /** 0 for a stored copy. */
  readonly pages: number;
  /** Read by this instance, or taken from Redis or from SNAPSHOT_FILE. */
  readonly source: 'bank' | 'shared' | 'file';
  /** True for a stored copy that no refresh took: it is stale until one succeeds. Not if another instance just stored it. */
  readonly isRestored?: boolean;
}

export interface StoredCopy {
  /** Milliseconds from the copy's first call to the bank to the start of this refresh; negative for a later call. */
  readonly leadMs: number;
  readonly durationMs: number;
}

export type Accepts = (copy: StoredCopy) => boolean;

export interface RefreshRequest {
  readonly refreshId: string;
  /** Ends the refresh. */
  readonly signal: AbortSignal;
  readonly accepts: Accepts;
  /** Measures this service's own work, which does not count as waiting for the bank. */
  readonly ownWork: Stopwatch;
  readonly noteAsked?: NoteAsked;
}

export interface SharingStatus {
  /** Null without REDIS_URL. Times are ISO 8601; null for never. */
  readonly redis: {
    readonly state: 'fleet' | 'unavailable';
    readonly lastStoredAt: string | null;
    readonly lastTakenAt: string | null;
    readonly reason: string | null;
  } | null;
  /** Null without SNAPSHOT_FILE; `failing` is the reason why it cannot be written. */
  readonly file: { readonly failing: string | null } | null;
}

/** The origin of snapshots: the bank, or a source that wraps another one, such as Redis around the bank. */
export abstract class SnapshotSource {
  /** @throws GatewayError; the reason of the signal */
  abstract read(request: RefreshRequest): Promise<Snapshot>;

  /** True if other instances share their copies through it. */
  get isShared(): boolean {
    return false;
  }

  /** The stored copy, if it is acceptable, without a call to the bank; else null. Never rejects. */
  async take(_accepts: Accepts): Promise<Snapshot | null> {
    return null;
  }

  /** Finishes background work before the process stops. */
  async close(): Promise<void> {}

  status(): SharingStatus {
    return { redis: null, file: null };
  }
}
