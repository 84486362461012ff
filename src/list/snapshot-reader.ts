import { Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import { AccountReader } from '../bank/account-reader.js';
import { Clock } from '../time/clock.js';
import { orAborted } from '../time/deadline.js';
import { BuilderThread } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

/** A refresh that succeeded. */
export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  readonly pages: number;
  /** The source of the snapshot: the bank, asked by this instance (the default), or another instance. */
  readonly source?: 'bank' | 'shared';
}

type Builder = Pick<BuilderThread, 'takePage' | 'finish' | 'end'>;

/** After a snapshot larger than this, the thread is ended, because its heap would not shrink. */
const LARGE_BYTES = 32 * 1024 * 1024;

/** Reads the bank's list and builds a snapshot of it. */
@Injectable()
export class SnapshotReader implements OnApplicationShutdown {
  /** Idle thread for the next refresh: starting one takes longer than reading a short list. */
  #idle: Builder | null;

  constructor(
    private readonly accounts: AccountReader,
    private readonly clock: Clock,
    @Optional() private readonly startBuilder: () => Builder = () => new BuilderThread(),
  ) {
    this.#idle = startBuilder();
  }

  /**
   * @param asOfMs time the snapshot shows, where it is not by the clock of this machine
   * @throws GatewayError as `ListRefresh.pages`, internal-error; or the signal's reason
   */
  async read(refreshId: string, signal: AbortSignal, asOfMs?: number): Promise<ReadSnapshot> {
    signal.throwIfAborted();
    const askedAt = this.clock.now();
    const builder = this.#idle ?? this.startBuilder();
    this.#idle = null;
    try {
      const list = this.accounts.begin(refreshId, signal);
      for await (const page of list.pages()) list.took(await orAborted(builder.takePage(page), signal));
      const { complete, pages } = list.result;
      const asOf = new Date(asOfMs ?? askedAt.wall).toISOString();
      const buffer = await orAborted(builder.finish({ asOf, complete }), signal);
      if (buffer.byteLength <= LARGE_BYTES) this.#idle = builder;
      return { snapshot: new Snapshot(buffer, { askedAt, durationMs: this.clock.since(askedAt) }), pages };
    } finally {
      if (this.#idle !== builder) void builder.end();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#idle?.end();
  }
}
