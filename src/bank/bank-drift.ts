import type { Logger } from 'pino';
import { MAX_DRIFT, type Drift } from './drift-finder.js';

/** Drift found since the start (docs/bank.md#drift): each is logged once, at most 50. It changes no status. */
export class BankDrift {
  readonly #logger: Logger;
  readonly #found = new Map<string, Drift>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Records drift, once for each path and value. */
  note(found: readonly Drift[]): void {
    for (const { path, value } of found) {
      const key = `${path} ${value ?? ''}`;
      if (this.#found.size >= MAX_DRIFT || this.#found.has(key)) continue;
      const drift = { path, ...(value !== undefined && { value }) };
      this.#found.set(key, drift);
      this.#logger.warn(
        { event: 'bank.drift', ...drift },
        'the bank sends a field or value that the gateway does not know',
      );
    }
  }

  /** Oldest first. */
  get found(): readonly Drift[] {
    return [...this.#found.values()];
  }
}
