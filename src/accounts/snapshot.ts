import type { Instant } from '../clock.js';
import type { Account } from './account.js';
import type { Facets } from './facets.js';

export interface SnapshotParts {
  /** By id, no id twice. */
  readonly accounts: readonly Account[];
  /** Before the bank was asked. */
  readonly askedAt: Instant;
  readonly durationMs: number;
  readonly complete: boolean | null;
  readonly facets: Facets;
  /** Where each id stands in `accounts`. */
  readonly positions: ReadonlyMap<string, number>;
}

/** One complete reading of the bank's accounts, in our words. Never changed, only replaced as a whole. */
export class Snapshot {
  readonly accounts: readonly Account[];
  readonly askedAt: Instant;
  /** When the bank was asked, as the contract writes it. */
  readonly asOf: string;
  readonly durationMs: number;
  readonly complete: boolean | null;
  readonly facets: Facets;
  readonly #positions: ReadonlyMap<string, number>;

  constructor({ accounts, askedAt, durationMs, complete, facets, positions }: SnapshotParts) {
    this.accounts = accounts;
    this.askedAt = askedAt;
    this.asOf = new Date(askedAt.wall).toISOString();
    this.durationMs = durationMs;
    this.complete = complete;
    this.facets = facets;
    this.#positions = positions;
  }

  find(id: string): Account | undefined {
    return this.accounts[this.position(id)];
  }

  /** Where the account stands in `accounts`; -1 when there is none. */
  position(id: string): number {
    return this.#positions.get(id) ?? -1;
  }
}
