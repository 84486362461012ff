import type { AccountReader } from '../bank/account-reader.js';
import type { Clock } from '../clock.js';
import { orAborted } from '../deadline.js';
import type { BuilderThread } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

/** A reading that went well. */
export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  readonly pages: number;
}

/** Reads the bank's list and has a snapshot made of it. */
export class SnapshotReader {
  constructor(
    private readonly accounts: AccountReader,
    private readonly builder: BuilderThread,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError as `AccountReader.readAll`, internal-error; or the signal's reason */
  async read(readingId: string, signal: AbortSignal): Promise<ReadSnapshot> {
    const askedAt = this.clock.now();
    // started now, it is ready when the first page is there
    let build = this.builder.begin();
    try {
      const { complete, pages } = await this.accounts.readAll(readingId, signal, () => {
        build = this.builder.begin();
        const { takePage } = build;
        return (pageNumber, body) => orAborted(takePage(pageNumber, body), signal);
      });
      const asOf = new Date(askedAt.wall).toISOString();
      const buffer = await orAborted(build.finish({ asOf, complete }), signal);
      return { snapshot: new Snapshot(buffer, { askedAt, durationMs: this.clock.since(askedAt) }), pages };
    } catch (error) {
      this.builder.drop();
      throw error;
    }
  }
}
