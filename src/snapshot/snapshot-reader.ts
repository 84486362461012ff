import type { AccountReader } from '../bank/account-reader.js';
import type { Clock } from '../time/clock.js';
import { orAborted } from '../time/deadline.js';
import type { BuilderThread } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

/** A refresh that succeeded. */
export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  readonly pages: number;
  /** Which instance asked the bank: this one (the default), or another. */
  readonly source?: 'bank' | 'shared';
}

/** Another instance's refresh that will do in place of one of this instance, by when the caller asked. */
export interface Acceptable {
  /** Maximum age of a stored one, ms, by how long it took. */
  maxAgeMs(durationMs: number): number;
  /** How long before one in flight may have begun, ms. */
  readonly maxBegunMs: number;
}

/** Refreshes from the bank or another instance. @throws GatewayError, or the reason of `signal` */
export type ReadAccounts = (refreshId: string, signal: AbortSignal, acceptable: Acceptable) => Promise<ReadSnapshot>;

/** Reads the bank's list and builds a snapshot of it. */
export class SnapshotReader {
  constructor(
    private readonly accounts: AccountReader,
    private readonly builder: BuilderThread,
    private readonly clock: Clock,
  ) {}

  /**
   * @param asOfMs time the snapshot shows, where it is not by the clock of this machine
   * @throws GatewayError as `ListRefresh.pages`, internal-error; or the signal's reason
   */
  async read(refreshId: string, signal: AbortSignal, asOfMs?: number): Promise<ReadSnapshot> {
    const askedAt = this.clock.now();
    // started now, it is ready when the first page is there
    let build = this.builder.begin();
    try {
      const list = this.accounts.begin(refreshId, signal);
      for await (const { number, pieces } of list.pages()) {
        if (number === 1) build = this.builder.begin();
        list.took(await orAborted(build.takePage(number, pieces), signal));
      }
      const { complete, pages } = list.result;
      const asOf = new Date(asOfMs ?? askedAt.wall).toISOString();
      const buffer = await orAborted(build.finish({ asOf, complete }), signal);
      return { snapshot: new Snapshot(buffer, { askedAt, durationMs: this.clock.since(askedAt) }), pages };
    } catch (error) {
      this.builder.drop();
      throw error;
    }
  }
}
