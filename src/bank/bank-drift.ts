import type { Logger } from 'pino';
import { MAX_DRIFT, type Drift } from './key-tree.js';

/**
 * What the bank has sent since the start that the gateway does not know (docs/operations.md#drift): each is logged once, and
 * 100 are kept. It is never an error, and changes no status.
 */
export class BankDrift {
  readonly #logger: Logger;
  readonly #found = new Map<string, Drift>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** What was noted before is left out. */
  note(found: readonly Drift[]): void {
    for (const drift of found) {
      const key = JSON.stringify(drift);
      if (this.#found.size >= MAX_DRIFT || this.#found.has(key)) continue;
      this.#found.set(key, drift);
      this.#logger.warn({ event: 'bank.drift', ...drift }, 'the bank sends what the gateway does not know');
    }
  }

  /** Oldest first; its length is the number of paths. */
  status(): { readonly paths: readonly Drift[] } {
    return { paths: [...this.#found.values()] };
  }
}
