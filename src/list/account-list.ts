import type { Account } from './account.js';
import { createMatch, type Filters } from './match.js';
import { SearchableAccount } from './searchable-account.js';
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
  readonly #orders = new Map<Sort, readonly SearchableAccount[]>();

  /** Sorts the accounts by name. @param byId each account under its id */
  constructor(byId: ReadonlyMap<string, Account>) {
    this.#byId = byId;
    const accounts = Array.from(byId.values(), (account) => new SearchableAccount(account));
    this.#orders.set('name', sortAccounts(accounts, 'name'));
  }

  get size(): number {
    return this.#byId.size;
  }

  find(id: string): Account | undefined {
    return this.#byId.get(id);
  }

  /** The accounts that match, in order. */
  select({ filters, sort }: Selection): readonly { readonly account: Account }[] {
    const ordered = this.#inOrder(sort);
    const matches = createMatch(filters);
    return matches === null ? ordered : ordered.filter(matches);
  }

  #inOrder(sort: Sort): readonly SearchableAccount[] {
    const known = this.#orders.get(sort);
    if (known) return known;
    const order = sortAccounts(this.#inOrder('name'), sort);
    this.#orders.set(sort, order);
    return order;
  }
}
