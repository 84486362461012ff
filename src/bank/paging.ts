import type { PageFacts } from './page-reader.js';

/** The outcome of one pass over all pages. */
export interface Pass {
  readonly accounts: number;
  readonly pages: number;
  /** True if the bank gave a row count. */
  readonly counted: boolean;
  /** True if the list changed meanwhile: it disagrees with its own count, or contains an account twice. */
  readonly drifted: boolean;
}

/** The rules of one pass over the list, in page order and without I/O: which page is the last, and what came of it. */
export class Paging {
  readonly #counts = new Set<number>();
  #first: PageFacts | null = null;
  #accounts = 0;
  #duplicates = 0;
  #pages = 0;
  /** Number of the last page to read, as far as is known. */
  last = 1;

  /** @param pageSize as asked for */
  constructor(private readonly pageSize: number) {}

  get pass(): Pass {
    const counts = [...this.#counts];
    return {
      accounts: this.#accounts,
      pages: this.#pages,
      counted: counts.length > 0,
      drifted: this.#duplicates > 0 || counts.length > 1 || counts.some((count) => count !== this.#accounts),
    };
  }

  took(number: number, facts: PageFacts): void {
    this.last = number;
    // past the end
    if (number > 1 && facts.accounts === 0) return;
    if (facts.rowCount !== null) this.#counts.add(facts.rowCount);
    const first = (this.#first ??= facts);
    this.#pages += 1;
    this.#accounts += facts.added;
    this.#duplicates += facts.accounts - facts.added;
    // a bank that ignores PageNumber sends the same once more; if all of it fits on one page, nothing is wrong
    if (number === 2 && first.rowCount === null && first.accounts < this.pageSize && facts.repeatsLast) {
      this.#duplicates = 0;
    }
    // an empty list; the same page again and again must not go on forever
    if (facts.added > 0) this.last = this.#lastAfter(number, facts, first);
  }

  #lastAfter(number: number, facts: PageFacts, first: PageFacts): number {
    if (first.rowCount !== null) {
      const planned = Math.ceil(first.rowCount / first.accounts);
      return Math.max(planned, this.#accounts < first.rowCount ? number + 1 : number);
    }
    // the bank may clamp the page size: only a page shorter than it says its pages are is the last
    const short = facts.echoedSize !== null && facts.accounts < facts.echoedSize;
    return short ? number : number + 1;
  }
}
