import type { Logger } from 'pino';
import type { GatewayError } from '../problems/gateway-error.js';
import type { Snapshot } from './snapshot.js';
import type { ReadSnapshot } from './snapshot-reader.js';

/** What the log says of readings (docs/operations.md#logs). */
export class RefreshLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A copy from before the start is held. */
  restored({ size, complete }: Snapshot): void {
    const fields = { accounts: size, complete, source: 'file' };
    this.#logger.info({ event: 'snapshot.refreshed', ...fields }, 'accounts taken from the copy of an earlier run');
  }

  /** A reading is held in the place of `before`. */
  taken({ snapshot, pages, source = 'bank' }: ReadSnapshot, before: Snapshot | null, refreshId: string): void {
    const { complete, durationMs, size: accounts } = snapshot;
    const fields = { refreshId, accounts, pages, complete, ms: Math.round(durationMs), source };
    this.#logger.info(
      { event: 'snapshot.refreshed', ...fields },
      source === 'bank' ? 'accounts read' : 'accounts taken from another instance',
    );
    if (complete === false) {
      this.#logger.warn(
        { event: 'snapshot.incomplete', ...fields },
        'the list changed while it was read, twice; it may lack or repeat accounts',
      );
    }
    if (accounts === 0 && before && before.size > 0) {
      this.#logger.warn(
        { event: 'snapshot.emptied', ...fields, before: before.size },
        'the bank lists no accounts any more',
      );
    }
  }

  /** A reading failed, and none is made for so long. A fault of the gateway has a line more, with the error itself. */
  failed(error: GatewayError, retryInMs: number, refreshId: string): void {
    const { code, owner, detail, needsSomeone } = error;
    const isFault = code === 'internal-error';
    if (isFault) {
      this.#logger.error(
        { event: 'snapshot.failed', refreshId, err: error },
        'reading failed by a fault of the gateway',
      );
    }
    this.#logger[needsSomeone && !isFault ? 'error' : 'warn'](
      { event: 'snapshot.failed', refreshId, code, owner, detail, retryInMs: Math.round(retryInMs) },
      'the accounts could not be read',
    );
  }
}
