import { Injectable } from '@nestjs/common';
import { AccountReader, type ParsePage } from '../bank/account-reader.js';
import { BankDrift } from '../bank/bank-drift.js';
import { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { Clock } from '../time/clock.js';
import { orAborted } from '../time/deadline.js';
import { ListThread } from './list-thread.js';
import { SnapshotSource, type RefreshRequest, type Snapshot } from './snapshot-source.js';

/** Reads the whole account list from the bank, into its own thread. */
@Injectable()
export class BankSource extends SnapshotSource {
  constructor(
    private readonly reader: AccountReader,
    private readonly drift: BankDrift,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {
    super();
  }

  /**
   * A failed refresh ends only its own thread: the cached list has another.
   * @throws GatewayError as `AccountReader.read` and `ListThread.takePage`, bank-timeout; the reason of the signal
   */
  override async read({ refreshId, signal, ownWork, noteAsked }: Omit<RefreshRequest, 'accepts'>): Promise<Snapshot> {
    await ListThread.makeRoom();
    signal.throwIfAborted();
    const { SNAPSHOT_READ_TIMEOUT_MS: timeoutMs } = this.settings;
    const timeout = AbortSignal.timeout(timeoutMs);
    const limit = AbortSignal.any([timeout, signal]);
    const askedAt = this.clock.now();
    const list = new ListThread();
    try {
      const parsePage: ParsePage = (number, body) => orAborted(ownWork.time(list.takePage(number, body)), limit);
      const { complete, pages } = await this.reader.read(refreshId, limit, parsePage, noteAsked);
      const { accounts: size, fields } = await orAborted(ownWork.time(list.finish()), limit);
      this.drift.noteList(fields);
      const asOf = new Date(askedAt.wall).toISOString();
      const durationMs = this.clock.since(askedAt);
      return { list, size, askedAt, asOf, durationMs, complete, pages, source: 'bank' };
    } catch (error) {
      // before the next refresh begins, so that threads do not pile up
      await list.end();
      throw timeout.aborted ? tooSlow(timeoutMs) : error;
    }
  }
}

const tooSlow = (ms: number) =>
  new GatewayError('bank-timeout', `The bank sent no complete list within ${ms} ms (SNAPSHOT_READ_TIMEOUT_MS).`);
