import type { Snapshot } from './snapshot.js';

/** A copy that another instance has stored, as `RefreshRequest.accepts` looks at it. */
export interface StoredCopy {
  /** Milliseconds between the copy's first call to the bank and the begin of this refresh; negative for a later call. */
  readonly leadMs: number;
  /** Duration of the refresh that made the copy, ms. */
  readonly durationMs: number;
  /** True for a copy that was stored while this refresh waited for it. */
  readonly isAwaited: boolean;
}

/** One refresh, as it is asked for. */
export interface RefreshRequest {
  readonly refreshId: string;
  /** Ends the refresh. */
  readonly signal: AbortSignal;
  /** True if a stored copy does instead of asking the bank. */
  accepts(copy: StoredCopy): boolean;
}

/** A refresh that succeeded. */
export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  /** Pages of the bank; 0 for a stored copy. */
  readonly pages: number;
  /** The bank, asked by this instance, or another instance. */
  readonly source: 'bank' | 'shared';
}

/** Where snapshots come from: the bank, or a source around another one, such as Redis around the bank. */
export abstract class SnapshotSource {
  /** @throws GatewayError; the reason of the signal */
  abstract read(request: RefreshRequest): Promise<ReadSnapshot>;

  /** The snapshot of an earlier run; null without one that may be served. */
  abstract restore(): Promise<Snapshot | null>;

  /** Finishes background work, at a stop. */
  abstract close(): Promise<void>;
}
