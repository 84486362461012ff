import { GatewayError } from '../errors/gateway-error.js';
import type { Account } from './account.js';
import { createMatch, type Filters } from './match.js';
import { SearchTexts } from './search-texts.js';
import { sortAccounts, type Sort, type SortField } from './sort.js';

// docs/bounds.md#the-bank
const MAX_ACCOUNTS = 200_000;
/** Limit for accounts and balances together. */
const MAX_CURRENCIES = 500;

/** Accounts between two pauses. A pause costs as much as most comparisons, but long texts take a hundred times as long. */
const ACCOUNTS_A_STEP = 10;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export interface Selection {
  readonly filters: Filters;
  readonly sort: Sort;
}

/** The accounts of one snapshot. First all are added, then it answers queries. */
export class AccountList {
  readonly #byId = new Map<string, Account>();
  readonly #currencies = new Set<string>();
  readonly #orders = new Map<Sort, readonly Account[]>();
  readonly #searchTexts: SearchTexts;

  /** @param maxKeptLength folded characters to keep for searches; further accounts are folded again each time */
  constructor(maxKeptLength = Infinity) {
    this.#searchTexts = new SearchTexts(maxKeptLength);
  }

  /** Returns false if it replaces an account with the same id. @throws GatewayError bank-response-invalid */
  add(account: Account): boolean {
    this.#addCurrency(account.currency, 'currency');
    for (const { currency } of account.balances) this.#addCurrency(currency, 'balances[].currency');
    const isNew = !this.#byId.has(account.id);
    this.#byId.set(account.id, account);
    assertAtMost(MAX_ACCOUNTS, this.#byId.size, 'accountId');
    return isNew;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** A UUID is found in any letter case. */
  find(id: string): Account | undefined {
    const found = this.#byId.get(id);
    if (found || !UUID.test(id)) return found;
    const wanted = id.toLowerCase();
    for (const account of this.#byId.values()) if (account.id.toLowerCase() === wanted) return account;
    return undefined;
  }

  inOrder(sort: Sort): readonly Account[] {
    const known = this.#orders.get(sort);
    if (known) return known;
    const field = sort.replace(/^-/, '') as SortField;
    const order =
      sort === field ? sortAccounts(this.#byId.values(), field, 1) : sortAccounts(this.inOrder(field), field, -1);
    this.#orders.set(sort, order);
    return order;
  }

  *select({ filters, sort }: Selection): Generator<undefined, readonly Account[]> {
    const ordered = this.inOrder(sort);
    const matches = createMatch(filters, this.#searchTexts);
    if (matches === null) return ordered;
    const found: Account[] = [];
    let looked = 0;
    for (const account of ordered) {
      if (matches(account)) found.push(account);
      looked += 1;
      if (looked % ACCOUNTS_A_STEP === 0) yield;
    }
    return found;
  }

  #addCurrency(currency: string | null, path: string): void {
    if (currency === null) return;
    this.#currencies.add(currency);
    assertAtMost(MAX_CURRENCIES, this.#currencies.size, path);
  }
}

function assertAtMost(bound: number, count: number, path: string): void {
  if (count <= bound) return;
  const detail = `In the account list, ${path} has more than ${bound} different values.`;
  throw new GatewayError('bank-response-invalid', detail);
}
