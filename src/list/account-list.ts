import type { Account } from './account.js';
import { createMatch, type Filters } from './match.js';
import { SearchTexts } from './search-texts.js';
import { sortAccounts, type Sort } from './sort.js';

/** Which accounts, and in which order. */
export interface Selection {
  readonly filters: Filters;
  readonly sort: Sort;
}

/** The accounts of one refresh as plain objects, never changed. Knows no thread, no HTTP and no clock. */
export class AccountList {
  readonly #byId: ReadonlyMap<string, Account>;
  /** The sort orders that were asked for, each sorted once. */
  readonly #orders = new Map<Sort, readonly Account[]>();
  readonly #searchTexts = new SearchTexts();

  /** Sorts the accounts by name. @param byId each account under its id */
  constructor(byId: ReadonlyMap<string, Account>) {
    this.#byId = byId;
    this.#orders.set('name', sortAccounts([...byId.values()], 'name'));
  }

  get size(): number {
    return this.#byId.size;
  }

  find(id: string): Account | undefined {
    return this.#byId.get(id);
  }

  inOrder(sort: Sort): readonly Account[] {
    const known = this.#orders.get(sort);
    if (known) return known;
    const order = sortAccounts(this.inOrder('name'), sort);
    this.#orders.set(sort, order);
    return order;
  }

  /** The accounts that match, in order. Each account is a step. */
  *select({ filters, sort }: Selection): Generator<undefined, readonly Account[]> {
    const ordered = this.inOrder(sort);
    const matches = createMatch(filters, this.#searchTexts);
    if (matches === null) return ordered;
    const found: Account[] = [];
    for (const account of ordered) {
      if (matches(account)) found.push(account);
      yield;
    }
    return found;
  }
}
