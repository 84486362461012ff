import type { PageFacts } from '../list/bank-page.js';

/** The result of one pass over all pages, or of a complete refresh. */
export interface ListOutcome {
  readonly accounts: number;
  readonly pages: number;
  /** False if the bank's row count does not match, or if an account appears twice; null without a count. */
  readonly complete: boolean | null;
}

/** The rules of one pass over the list, in page order and without I/O: which page is the last, and the outcome. */
export class Paging {
  readonly #counts = new Set<number>();
  #first: PageFacts | null = null;
  #number = 0;
  #accounts = 0;
  #duplicates = 0;
  #pages = 0;
  #last = 1;

  /** @param pageSize as requested */
  constructor(private readonly pageSize: number) {}

  /** The last page to read, as far as known. */
  get last(): number {
    return this.#last;
  }

  get outcome(): ListOutcome {
    return { accounts: this.#accounts, pages: this.#pages, complete: this.#complete };
  }

  get #complete(): boolean | null {
    const counts = [...this.#counts];
    if (this.#duplicates > 0 || counts.some((count) => count !== this.#accounts)) return false;
    return counts.length > 0 ? true : null;
  }

  add(facts: PageFacts): void {
    this.#number += 1;
    this.#last = this.#number;
    // past the end
    if (this.#number > 1 && facts.accounts === 0) return;
    if (facts.rowCount !== null) this.#counts.add(facts.rowCount);
    // past the end too: a bank that knows no such page may send an earlier one again
    if (this.#number > 1 && facts.added === 0 && this.#complete) return;
    const first = (this.#first ??= facts);
    this.#pages += 1;
    this.#accounts += facts.added;
    this.#duplicates += facts.accounts - facts.added;
    // a bank that ignores PageNumber sends the same page again; this is harmless if the page has every account
    const isRepeated = facts.added === 0 && facts.accounts === first.accounts;
    if (isRepeated && this.#number === 2 && first.rowCount === null && first.accounts < this.pageSize) {
      this.#duplicates = 0;
    }
    // an empty list; a bank that repeats one page must not keep us busy forever
    if (facts.added > 0) this.#last = this.#lastAfter(facts, first);
  }

  #lastAfter(facts: PageFacts, first: PageFacts): number {
    const next = this.#number + 1;
    // a count below the size of page 1 plans no pages; the outcome is incomplete
    if (first.rowCount !== null && first.rowCount >= first.accounts) {
      const planned = Math.ceil(first.rowCount / first.accounts);
      // the count may be that of one page, or capped: after a full page, only the next one shows the end
      const isFull = facts.accounts >= (facts.echoedSize ?? this.pageSize);
      return Math.max(planned, isFull || this.#accounts < first.rowCount ? next : this.#number);
    }
    // the bank may clamp the page size: the last page is the first that is shorter than the size it reports
    const short = facts.echoedSize !== null && facts.accounts < facts.echoedSize;
    return short ? this.#number : next;
  }
}
