import type { IdentityMaterial } from '../auth/identity-material.js';
import type { AccountReader } from '../bank/account-reader.js';
import type { Clock } from '../time/clock.js';
import { orAborted } from '../time/deadline.js';
import type { BuilderThread } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

/** A reading that went well. */
export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  readonly pages: number;
  /** Who asked the bank: this instance, which is meant when nothing is said, or another. */
  readonly source?: 'bank' | 'shared';
}

/** What will do in place of a reading that has yet to begin, where another instance has it. */
export interface Acceptable {
  /** How old one that is there may be, ms, by how long it took. */
  maxAgeMs(durationMs: number): number;
  /** How long ago one in flight may have begun, ms. */
  readonly maxBegunMs: number;
}

/**
 * Reads the accounts, or has them from elsewhere. `asOfMs` is the time that the snapshot names, where another clock than
 * this machine's tells it. @throws GatewayError, or the reason of `signal`
 */
export type ReadAccounts = (
  refreshId: string,
  signal: AbortSignal,
  acceptable?: Acceptable,
  asOfMs?: number,
) => Promise<ReadSnapshot>;

/** Puts the readings of other instances in front of those of this one (docs/fleet.md). Also the token it is injected by. */
export abstract class SharedReadings {
  /** `material` gives what the bank is asked with: an instance that asks with the same shares with this one. */
  abstract share(read: ReadAccounts, material: () => IdentityMaterial): ReadAccounts;
}

/** Reads the bank's list and has a snapshot made of it. */
export class SnapshotReader {
  constructor(
    private readonly accounts: AccountReader,
    private readonly builder: BuilderThread,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError as `ListReading.pages`, internal-error; or the signal's reason */
  async read(refreshId: string, signal: AbortSignal, _acceptable?: Acceptable, asOfMs?: number): Promise<ReadSnapshot> {
    const askedAt = this.clock.now();
    // started now, it is ready when the first page is there
    let build = this.builder.begin();
    try {
      const reading = this.accounts.begin(refreshId, signal);
      for await (const { number, pieces } of reading.pages()) {
        if (number === 1) build = this.builder.begin();
        reading.took(await orAborted(build.takePage(number, pieces), signal));
      }
      const { complete, pages } = reading.list;
      const asOf = new Date(asOfMs ?? askedAt.wall).toISOString();
      const buffer = await orAborted(build.finish({ asOf, complete }), signal);
      return { snapshot: new Snapshot(buffer, { askedAt, durationMs: this.clock.since(askedAt) }), pages };
    } catch (error) {
      this.builder.drop();
      throw error;
    }
  }
}
