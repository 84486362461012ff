import { GatewayError } from '../problems/gateway-error.js';
import { readBankAccount, type BankAccount } from './account-fields.js';
import { findDrift, type Drift } from './find-drift.js';
import { readPage } from './read-page.js';

/** The facts of one page that paging needs. */
export interface PageFacts {
  readonly accounts: number;
  /** Accounts among them that no earlier page had. */
  readonly added: number;
  /** The number of all records by the bank's count; null without one. */
  readonly rowCount: number | null;
  /** The page size that the bank reports to have used; null if it reports none. */
  readonly echoedSize: number | null;
  /** The same accounts in the same order as on the page before it. */
  readonly repeatsLast: boolean;
  /** Found on this page, at most 50. */
  readonly drift: readonly Drift[];
}

/** Maximum number of accounts in one list. */
const MAX_ACCOUNTS = 200_000;

/** Reads the pages of one pass over the list, in order. */
export class PageReader {
  readonly #seen = new Set<string>();
  #lastIds: readonly string[] = [];

  /**
   * @param take gets each account of the page, one after the other, so that they need not all be kept; if the page is
   *   refused, what it got is void
   * @throws GatewayError bank-response-invalid, naming the path in the document and never a value
   */
  read(pageNumber: number, body: Uint8Array, take: (account: BankAccount) => void): PageFacts {
    const page = readPage(body, pageNumber);
    const before = this.#seen.size;
    const ids = page.rows.map((row, index) => {
      const account = readBankAccount(row, `${page.path}[${index}]`);
      this.#seen.add(account.accountId);
      if (this.#seen.size > MAX_ACCOUNTS) throw tooMany(page.path);
      take(account);
      return account.accountId;
    });
    const last = this.#lastIds;
    this.#lastIds = ids;
    return {
      accounts: ids.length,
      added: this.#seen.size - before,
      rowCount: page.rowCount,
      echoedSize: page.echoedSize,
      repeatsLast: last.length === ids.length && ids.every((id, index) => id === last[index]),
      drift: findDrift(page.rows),
    };
  }
}

const tooMany = (path: string) =>
  new GatewayError(
    'bank-response-invalid',
    `In the account list, ${path === '' ? 'the array' : path} has more than ${MAX_ACCOUNTS} accounts over all pages.`,
  );
