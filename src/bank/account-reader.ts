import { GatewayError } from '../problems/gateway-error.js';
import type { PageFacts } from './page-reader.js';
import type { PageAnswer, PageSource } from './page-source.js';

/** A complete reading of the bank's list. */
export interface AccountList {
  readonly accounts: number;
  /** Whether the bank's own count agrees; null when it gives none to check by (docs/api.md#freshness). */
  readonly complete: boolean | null;
  readonly pages: number;
  /** True when the list changed under the first pass and was read again. */
  readonly readAgain: boolean;
}

interface AccountReaderOptions {
  readonly pageSize: number;
  readonly maxConcurrentRequests: number;
}

/** Takes the pages of one pass as they come, and with them their bytes. @throws GatewayError bank-response-invalid */
export type TakePage = (pageNumber: number, pieces: readonly Buffer[]) => Promise<PageFacts>;

/** A list that goes on past this is taken for one that never ends. */
const MAX_ACCOUNTS = 500_000;
/** As many accounts of 1.2 KB; larger ones without end would fill the memory sooner. */
const MAX_BYTES = 600_000_000;
/** Below this, a refused page size is no longer taken for the reason. */
const DEFAULT_PAGE_SIZE = 50;

interface Pass {
  readonly accounts: number;
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
   * @param beginPass called at the start of each pass; what an earlier pass took is then of no use any more
   * @throws GatewayError access-not-granted (404 on the first page), and as `PageSource.get` and `TakePage`
   */
  async readAll(refreshId: string, signal: AbortSignal, beginPass: () => TakePage): Promise<AccountList> {
    const first = await this.#pass(refreshId, signal, beginPass);
    const pass = first.drifted ? await this.#pass(refreshId, signal, beginPass) : first;
    return {
      accounts: pass.accounts,
      complete: pass.drifted ? false : pass.counted ? true : null,
      pages: pass.pages,
      readAgain: first.drifted,
    };
  }

  async #pass(refreshId: string, signal: AbortSignal, beginPass: () => TakePage): Promise<Pass> {
    for (;;) {
      // one failed page ends the others
      const end = new AbortController();
      const either = AbortSignal.any([signal, end.signal]);
      const get = (pageNumber: number) =>
        this.#source.get({ pageNumber, pageSize: this.#pageSize, refreshId, signal: either });
      try {
        const early = Math.min(this.#expectedPages, this.#maxConcurrent);
        const pass = await new PassReading(get, beginPass(), this.#pageSize, this.#maxConcurrent).run(early);
        this.#expectedPages = pass.counted ? pass.pages : 1;
        return pass;
      } catch (error) {
        if (!(error instanceof PageTooLarge)) throw error;
        if (this.#pageSize === 1) throw new GatewayError('bank-refused', 'The account list refuses every page size.');
        this.#pageSize = smaller(this.#pageSize);
        this.#expectedPages = 1;
      } finally {
        end.abort(new Error('the pass has ended'));
      }
    }
  }
}

const smaller = (size: number) =>
  size > DEFAULT_PAGE_SIZE ? Math.max(DEFAULT_PAGE_SIZE, Math.floor(size / 2)) : Math.floor(size / 2);

class PageTooLarge extends Error {}

/** One pass over all pages with one page size. */
class PassReading {
  readonly #counts = new Set<number>();
  readonly #early = new Map<number, Promise<PageAnswer>>();
  /** Number of the first page that is known to be past the end. */
  #end = Infinity;
  #accounts = 0;
  #duplicates = 0;
  #pages = 0;
  #bytes = 0;

  constructor(
    readonly get: (pageNumber: number) => Promise<PageAnswer>,
    readonly take: TakePage,
    readonly pageSize: number,
    readonly maxConcurrent: number,
  ) {}

  /** @param early this many pages are asked for at once, before the first has told how many there are */
  async run(early: number): Promise<Pass> {
    const first = this.get(1);
    for (let number = 2; number <= early; number++) {
      const asked = this.get(number);
      // it may never be awaited
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
    const facts = await this.#take(1, answer.pieces);
    if (facts.accounts > 0) {
      if (facts.rowCount === null) await this.#readUncounted(facts);
      else await this.#readCounted(facts.accounts, facts.rowCount);
    }
    return {
      accounts: this.#accounts,
      counted: this.#counts.size > 0,
      drifted:
        this.#duplicates > 0 || this.#counts.size > 1 || [...this.#counts].some((count) => count !== this.#accounts),
      pages: this.#pages,
    };
  }

  /** The count tells how many pages there are: they are asked for side by side, then on until the count is reached. */
  async #readCounted(firstLength: number, rowCount: number): Promise<void> {
    const last = Math.ceil(rowCount / firstLength);
    let next = 2;
    const lane = async () => {
      while (next <= last && next < this.#end) await this.#read(next++);
    };
    await Promise.all(Array.from({ length: Math.min(this.maxConcurrent, Math.max(0, last - 1)) }, lane));
    for (; this.#accounts < rowCount && next < this.#end; next++) await this.#read(next);
  }

  /** Without a count, the end is where a page is shorter than the bank says its pages are, or brings nothing new. */
  async #readUncounted(first: PageFacts): Promise<void> {
    let page: PageFacts | null = first;
    for (let number = 2; page && number < this.#end; number++) {
      if (page.echoedSize !== null && page.accounts < page.echoedSize) return;
      page = await this.#read(number);
      // a bank that ignores PageNumber sends the same once more; if all of it fitted on one page, nothing is wrong
      if (number === 2 && first.accounts < this.pageSize && page?.repeatsLast) {
        this.#duplicates = 0;
        return;
      }
    }
  }

  /** Reads a page; null when it is past the end. */
  async #read(number: number): Promise<PageFacts | null> {
    const answer = await (this.#early.get(number) ?? this.get(number));
    if (answer.kind === 'too-large') throw new PageTooLarge();
    const facts = answer.kind === 'not-found' ? null : await this.#take(number, answer.pieces);
    if (!facts || facts.accounts === 0) {
      this.#end = Math.min(this.#end, number);
      return null;
    }
    // the same page again and again must not go on forever
    if (facts.added === 0) this.#end = Math.min(this.#end, number + 1);
    return facts;
  }

  async #take(number: number, pieces: readonly Buffer[]): Promise<PageFacts> {
    for (const { length } of pieces) this.#bytes += length;
    if (this.#bytes > MAX_BYTES) {
      throw new GatewayError('bank-response-invalid', `The account list goes on past ${MAX_BYTES} bytes.`);
    }
    const facts = await this.take(number, pieces);
    if (facts.rowCount !== null && (number === 1 || facts.accounts > 0)) this.#counts.add(facts.rowCount);
    if (facts.accounts > 0 || number === 1) this.#pages += 1;
    this.#accounts += facts.added;
    this.#duplicates += facts.accounts - facts.added;
    if (this.#accounts > MAX_ACCOUNTS) {
      throw new GatewayError('bank-response-invalid', `The account list goes on past ${MAX_ACCOUNTS} accounts.`);
    }
    return facts;
  }
}
