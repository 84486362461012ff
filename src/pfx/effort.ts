import { PfxUnreadable } from './pfx-unreadable.js';

/**
 * Rounds of key derivation that one file may cost in all, so that none can hold the process up for long (at most
 * about 5 s). The most that common programs ask for in a whole file is 1.8 million (NSS: three times 600 000).
 */
export const MOST_ROUNDS = 5_000_000;

/** Counts the rounds; throws PfxUnreadable before the limit is passed. */
export class Effort {
  private left = MOST_ROUNDS;

  spend(rounds: number): void {
    if (rounds < 1)
      throw new PfxUnreadable(
        'damaged',
        'The PFX is damaged: it asks for no rounds of key derivation. Export it again.',
      );
    if (rounds > this.left) {
      throw new PfxUnreadable(
        'unknown-algorithm',
        `The PFX asks for more than ${MOST_ROUNDS} rounds of key derivation, which is refused; export it again with -iter 100000, or have it checked: it may be damaged.`,
      );
    }
    this.left -= rounds;
  }
}
