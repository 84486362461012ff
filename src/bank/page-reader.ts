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

  /** @throws GatewayError bank-response-invalid, naming the place in the document and never a value */
  read(pageNumber: number, body: Uint8Array): { readonly facts: PageFacts; readonly accounts: readonly BankAccount[] } {
    const page = readPage(body, pageNumber);
    this.keys?.look(page.document, page.list, body, pageNumber === 1);
    const accounts = page.rows.map((row, index) => readBankAccount(row, `${page.path}[${index}]`));
    const ids = accounts.map(({ accountId }) => accountId);
    const before = this.#seen.size;
    for (const id of ids) this.#seen.add(id);
    this.#idsOf.set(pageNumber, ids);
    const last = this.#idsOf.get(pageNumber - 1);
    const facts = {
      accounts: accounts.length,
      added: this.#seen.size - before,
      rowCount: page.rowCount,
      echoedSize: page.echoedSize,
      repeatsLast: last?.length === ids.length && ids.every((id, index) => id === last[index]),
    };
    return { facts, accounts };
  }
}
