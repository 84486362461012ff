import type { Logger } from 'pino';
import type { GatewayError } from '../problems/gateway-error.js';
import { PROBLEMS } from '../problems/problem-table.js';
import type { CachedSnapshot } from './cached-snapshot.js';
import type { Snapshot } from './snapshot.js';
import type { ReadSnapshot } from './snapshot-reader.js';

const MESSAGES = {
  bank: 'accounts refreshed from the bank',
  shared: 'accounts taken from another instance',
} as const;

/** Log lines about refreshes (docs/logs.md#events). */
export class RefreshLog {
  readonly #logger: Logger;
  readonly #cached: CachedSnapshot;
  #expired: Snapshot | null = null;

  constructor(logger: Logger, cached: CachedSnapshot) {
    this.#logger = logger;
    this.#cached = cached;
  }

  restored({ size, complete }: Snapshot): void {
    const fields = { accounts: size, complete, source: 'file' };
    this.#logger.info({ event: 'snapshot.refreshed', ...fields }, 'accounts restored from the file of an earlier run');
  }

  refreshed({ snapshot, pages, source = 'bank' }: ReadSnapshot, refreshId: string, wasEmptied: boolean): void {
    const { complete, durationMs, size: accounts } = snapshot;
    const fields = { refreshId, accounts, pages, complete, ms: Math.round(durationMs), source };
    this.#logger.info({ event: 'snapshot.refreshed', ...fields }, MESSAGES[source]);
    if (complete === false) {
      this.#logger.warn(
        { event: 'snapshot.incomplete', ...fields },
        'the list changed during both reads; it may lack or repeat accounts',
      );
    }
    if (this.#cached.isEmptied && !wasEmptied) {
      const code = 'accounts-emptied';
      const { owner } = PROBLEMS[code];
      this.#logger.warn({ event: 'snapshot.emptied', code, owner, ...fields }, 'the bank no longer lists any accounts');
    }
  }

  /** @param retryInMs the back-off */
  failed(error: GatewayError, retryInMs: number, refreshId: string): void {
    const { code, owner, detail, needsSomeone } = error;
    const fields = { event: 'snapshot.failed', refreshId, code, owner, detail, retryInMs: Math.round(retryInMs) };
    const place = code === 'internal-error' && { err: error };
    this.#logger[needsSomeone ? 'error' : 'warn']({ ...fields, ...place }, 'the accounts could not be refreshed');
  }

  /** Logs the end of the cached snapshot, once for each. @param failure why it was not replaced */
  expired({ code, owner, needsSomeone }: GatewayError): void {
    const { snapshot, servable, expiresAt } = this.#cached;
    if (!snapshot || servable || snapshot === this.#expired) return;
    this.#expired = snapshot;
    this.#logger[needsSomeone ? 'error' : 'warn'](
      { event: 'snapshot.failed', code, owner, asOf: snapshot.asOf, expiresAt },
      'the cached snapshot is past its maximum age: callers get an error until a refresh succeeds',
    );
  }
}
