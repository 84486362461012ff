import type { Instant } from '../time/clock.js';
import type { ListThread } from './list-thread.js';

/** The bank's accounts after one refresh. Never changed. */
export interface Snapshot {
  /** Answers queries about the accounts; ends some time after the snapshot was replaced. */
  readonly list: Pick<ListThread, 'answer' | 'pieces' | 'toJson' | 'retire' | 'end' | 'hasEnded' | 'lost'>;
  /** The number of accounts. */
  readonly size: number;
  /** The time before the first call to the bank, by the clocks of this process. */
  readonly askedAt: Instant;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  /** Duration of the refresh, ms, in the instance that made it. */
  readonly durationMs: number;
  /** True if the bank's own count agrees; null without a count. */
  readonly complete: boolean | null;
}
