import { PfxUnreadable } from './pfx-unreadable.js';

/** The time that deriving keys for one file may take in all. */
export const KDF_BUDGET_MS = 30_000;

/** A derivation is given up early when it would take this many times longer than it may. */
const HOPELESS = 4;
const JUDGED_AFTER_MS = 100;

/**
 * The bound on what one file may cost: time, since a file names its own count of rounds, and those of common programs
 * differ by thousands of times (1 for some, 6 million in all for a GnuTLS file with one CA).
 */
export class KdfBudget {
  readonly #end: number;
  #rounds = 0;

  constructor(ms = KDF_BUDGET_MS) {
    this.#end = performance.now() + ms;
  }

  /** Counts the rounds of one derivation, over all its output blocks. @throws PfxUnreadable damaged, unknown-algorithm */
  charge(rounds: number): void {
    if (rounds < 1) {
      throw new PfxUnreadable(
        'damaged',
        'The PFX is damaged: it asks for no rounds of key derivation. Export it again.',
      );
    }
    this.#rounds += rounds;
    this.assertTimeFor(0);
  }

  /** Before work that cannot be interrupted. @throws PfxUnreadable unknown-algorithm */
  assertTimeFor(ms: number): void {
    if (performance.now() + ms > this.#end) throw this.#exceeded();
  }

  /** During work that began at `startedAt` (of performance.now) and is `part` done. @throws PfxUnreadable unknown-algorithm */
  assertPace(startedAt: number, part: number): void {
    const taken = performance.now() - startedAt;
    if (taken > JUDGED_AFTER_MS && taken / part > HOPELESS * (this.#end - startedAt)) throw this.#exceeded();
    this.assertTimeFor(0);
  }

  #exceeded(): PfxUnreadable {
    return new PfxUnreadable(
      'unknown-algorithm',
      `The PFX asks for ${this.#rounds} rounds of key derivation or more, which takes longer than the ${KDF_BUDGET_MS / 1000} s that reading one may take; export it again with -iter 100000, or have it checked: it may be damaged.`,
    );
  }
}
