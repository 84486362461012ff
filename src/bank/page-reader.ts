import { readBankAccount, type BankAccount } from './account-fields.js';
import type { KeyTree } from './key-tree.js';
import { readPage } from './read-page.js';

/** What paging has to know of a page, besides its accounts. */
export interface PageFacts {
  readonly accounts: number;
  /** Of them, those that no page read before had. */
  readonly added: number;
  /** All records, by the bank's own count; null when it gives none. */
  readonly rowCount: number | null;
  /** The page size that the bank says it used; null when it does not say. */
  readonly echoedSize: number | null;
  /** The same accounts in the same order as on the page before it. */
  readonly repeatsLast: boolean;
}

/** Reads the pages of one pass over the list, in the order in which they come. */
export class PageReader {
  readonly #seen = new Set<string>();
  readonly #idsOf = new Map<number, readonly string[]>();

  /** @param keys looks at each page, whether it can be read or not */
  constructor(readonly keys: KeyTree | null = null) {}

  /**
   * @param take gets each account of the page, one after the other, so that they need not all be held; when the page is
   *   refused, what it got is of no use
   * @throws GatewayError bank-response-invalid, naming the place in the document and never a value
   */
  read(pageNumber: number, body: Uint8Array, take: (account: BankAccount) => void): PageFacts {
    const page = readPage(body, pageNumber);
    this.keys?.look(page.document, page.list, body, pageNumber === 1);
    const before = this.#seen.size;
    const ids = page.rows.map((row, index) => {
      const account = readBankAccount(row, `${page.path}[${index}]`);
      take(account);
      this.#seen.add(account.accountId);
      return account.accountId;
    });
    this.#idsOf.set(pageNumber, ids);
    const last = this.#idsOf.get(pageNumber - 1);
    return {
      accounts: ids.length,
      added: this.#seen.size - before,
      rowCount: page.rowCount,
      echoedSize: page.echoedSize,
      repeatsLast: last?.length === ids.length && ids.every((id, index) => id === last[index]),
    };
  }
}
