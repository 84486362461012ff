import { GatewayError } from '../problems/gateway-error.js';
import type { BankAccount } from './bank-account.js';
import type { PageAnswer, PageSource } from './page-source.js';

/** A complete reading of the bank's list, each account as `make` made it. */
export interface AccountList<T = BankAccount> {
  readonly accounts: readonly T[];
  /** Whether the bank's own count agrees; null when it gives none to check by (contract §3). */
  readonly complete: boolean | null;
  readonly pages: number;
  /** True when the list changed under the first reading and was read again. */
  readonly readAgain: boolean;
}

export interface AccountReaderOptions {
  readonly pageSize: number;
  readonly maxConcurrentRequests: number;
}

/** A list that goes on past this is taken for one that never ends. */
const MAX_ACCOUNTS = 500_000;
/** As many accounts of 1.2 KB; fatter ones without end would fill the memory sooner. */
const MAX_LENGTH = 600_000_000;
/** Below this, a refused page size is no longer taken for the reason. */
const DEFAULT_PAGE_SIZE = 50;

interface Pass<T> {
  readonly accounts: readonly T[];
  readonly counted: boolean;
  readonly drifted: boolean;
  readonly pages: number;
}

/**
 * Reads the whole account list over all its pages. The bank promises no order, so pages may drift while they are read:
 * a list that disagrees with its own count or shows an account twice is read once more. If one page fails, all fails.
 */
export class AccountReader {
  readonly #source: Pick<PageSource, 'get'>;
  readonly #maxConcurrent: number;
  /** What the bank was last found to accept. */
  #pageSize: number;
  /** Pages of the last reading that had a count: so many are asked for from the start, which saves a round trip. */
  #expectedPages = 1;

  constructor(source: Pick<PageSource, 'get'>, options: AccountReaderOptions) {
    this.#source = source;
    this.#maxConcurrent = options.maxConcurrentRequests;
    this.#pageSize = options.pageSize;
  }

  /**
   * `make` is called for each account as soon as its page is there, so that the bank's form of it need not be kept.
   * @throws GatewayError access-not-granted (404 on the first page), and as `PageSource.get`
   */
  async readAll<T = BankAccount>(
    readingId: string,
    signal: AbortSignal,
    make: (account: BankAccount) => T = (account) => account as T,
  ): Promise<AccountList<T>> {
    const first = await this.#pass(readingId, signal, make);
    const pass = first.drifted ? await this.#pass(readingId, signal, make) : first;
    return {
      accounts: pass.accounts,
      complete: pass.drifted ? false : pass.counted ? true : null,
      pages: pass.pages,
      readAgain: first.drifted,
    };
  }

  async #pass<T>(readingId: string, signal: AbortSignal, make: (account: BankAccount) => T): Promise<Pass<T>> {
    for (;;) {
      // one failed page ends the others
      const end = new AbortController();
      const either = AbortSignal.any([signal, end.signal]);
      const get = (pageNumber: number) =>
        this.#source.get({ pageNumber, pageSize: this.#pageSize, readingId, signal: either });
      try {
        const early = Math.min(this.#expectedPages, this.#maxConcurrent);
        const pass = await new PassReading(get, make, this.#pageSize, this.#maxConcurrent).run(early);
        this.#expectedPages = pass.counted ? pass.pages : 1;
        return pass;
      } catch (error) {
        if (!(error instanceof PageTooLarge)) throw error;
        if (this.#pageSize === 1) throw new GatewayError('bank-refused', 'The account list refuses every page size.');
        this.#pageSize = smaller(this.#pageSize);
        this.#expectedPages = 1;
      } finally {
        end.abort(new Error('the reading has ended'));
      }
    }
  }
}

const smaller = (size: number) =>
  size > DEFAULT_PAGE_SIZE ? Math.max(DEFAULT_PAGE_SIZE, Math.floor(size / 2)) : Math.floor(size / 2);

class PageTooLarge extends Error {}

type Page = Extract<PageAnswer, { kind: 'page' }>;

/** One pass over all pages with one page size. */
class PassReading<T> {
  readonly #pages = new Map<number, readonly (readonly [id: string, made: T])[]>();
  readonly #seen = new Set<string>();
  readonly #counts = new Set<number>();
  /** Number of the first page that is known to be past the end. */
  #end = Infinity;
  #duplicates = 0;
  readonly #early = new Map<number, Promise<PageAnswer>>();
  #length = 0;

  constructor(
    readonly get: (pageNumber: number) => Promise<PageAnswer>,
    readonly make: (account: BankAccount) => T,
    readonly pageSize: number,
    readonly maxConcurrent: number,
  ) {}

  /** @param early this many pages are asked for at once, before the first has told how many there are */
  async run(early: number): Promise<Pass<T>> {
    const first = this.get(1);
    for (let number = 2; number <= early; number++) {
      const asked = this.get(number);
      // it may never be looked at
      asked.catch(() => undefined);
      this.#early.set(number, asked);
    }
    const answer = await first;
    if (answer.kind === 'too-large') throw new PageTooLarge();
    if (answer.kind === 'not-found') {
      throw new GatewayError(
        'access-not-granted',
        'The account list answered 404: the bank has granted the M2M user no accounts, or the path in BANK_BASE_URL is wrong.',
      );
    }
    this.#take(1, answer);
    if (answer.accounts.length > 0) {
      if (answer.rowCount === null) await this.#readUncounted(answer);
      else await this.#readCounted(answer.accounts.length, answer.rowCount);
    }
    return this.#result();
  }

  /** The count tells how many pages there are: they are asked for side by side, then on until the count is reached. */
  async #readCounted(firstLength: number, rowCount: number): Promise<void> {
    const last = Math.ceil(rowCount / firstLength);
    let next = 2;
    const worker = async () => {
      while (next <= last && next < this.#end) await this.#read(next++);
    };
    await Promise.all(Array.from({ length: Math.min(this.maxConcurrent, Math.max(0, last - 1)) }, worker));
    for (; this.#seen.size < rowCount && next < this.#end; next++) await this.#read(next);
  }

  /** Without a count, the end is where a page is shorter than the bank says its pages are, or brings nothing new. */
  async #readUncounted(first: Page): Promise<void> {
    let page: Page | null = first;
    for (let number = 2; page && number < this.#end; number++) {
      if (page.echoedSize !== null && page.accounts.length < page.echoedSize) return;
      const before = page;
      page = await this.#read(number);
      // a bank that ignores PageNumber sends the same once more; if all of it fitted on one page, nothing is amiss
      if (page && number === 2 && first.accounts.length < this.pageSize && sameAccounts(before, page)) {
        this.#duplicates = 0;
        return;
      }
    }
  }

  /** Reads a page; null when it is past the end. */
  async #read(number: number): Promise<Page | null> {
    const answer = await (this.#early.get(number) ?? this.get(number));
    if (answer.kind === 'too-large') throw new PageTooLarge();
    if (answer.kind === 'not-found' || answer.accounts.length === 0) {
      this.#end = Math.min(this.#end, number);
      return null;
    }
    // the same page again and again must not go on for ever
    if (!this.#take(number, answer)) this.#end = Math.min(this.#end, number + 1);
    return answer;
  }

  /** Gives false when the page brought nothing new. */
  #take(number: number, page: Page): boolean {
    const before = this.#seen.size;
    for (const { accountId } of page.accounts) {
      if (this.#seen.has(accountId)) this.#duplicates += 1;
      else this.#seen.add(accountId);
    }
    if (this.#seen.size > MAX_ACCOUNTS) {
      throw new GatewayError('bank-response-invalid', `The account list goes on past ${MAX_ACCOUNTS} accounts.`);
    }
    this.#length += page.length;
    if (this.#length > MAX_LENGTH) {
      throw new GatewayError('bank-response-invalid', `The account list goes on past ${MAX_LENGTH} characters.`);
    }
    if (page.rowCount !== null) this.#counts.add(page.rowCount);
    this.#pages.set(
      number,
      page.accounts.map((account) => [account.accountId, this.make(account)]),
    );
    return this.#seen.size > before;
  }

  #result(): Pass<T> {
    // in the order of the pages, whichever came first: the later page's version of an account wins
    const byId = new Map<string, T>();
    for (const number of [...this.#pages.keys()].sort((a, b) => a - b)) {
      for (const [id, made] of this.#pages.get(number) ?? []) byId.set(id, made);
    }
    const disagrees = this.#counts.size > 1 || [...this.#counts].some((count) => count !== byId.size);
    return {
      accounts: [...byId.values()],
      counted: this.#counts.size > 0,
      drifted: this.#duplicates > 0 || disagrees,
      pages: this.#pages.size,
    };
  }
}

const sameAccounts = (a: Page, b: Page): boolean =>
  a.accounts.length === b.accounts.length &&
  a.accounts.every((account, index) => account.accountId === b.accounts[index]?.accountId);
