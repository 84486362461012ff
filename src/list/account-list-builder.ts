import { GatewayError } from '../errors/gateway-error.js';
import { AccountList } from './account-list.js';
import type { Account } from './account.js';

/** The bounds of one list (docs/bounds.md#the-bank). */
const MAX_ACCOUNTS = 200_000;
/** Of accounts and balances together. */
const MAX_CURRENCIES = 500;

/** Gathers the accounts of one pass over the bank's pages. */
export class AccountListBuilder {
  readonly #byId = new Map<string, Account>();
  readonly #currencies = new Set<string>();

  /**
   * Adds an account, in place of an earlier one with the same id. Returns true if there was none.
   * @throws GatewayError bank-response-invalid
   */
  add(account: Account): boolean {
    this.#addCurrency(account.currency, 'currency');
    for (const { currency } of account.balances) this.#addCurrency(currency, 'balances[].currency');
    const isNew = !this.#byId.has(account.id);
    this.#byId.set(account.id, account);
    assertAtMost(MAX_ACCOUNTS, this.#byId.size, 'accountId');
    return isNew;
  }

  /** Nothing can be added afterwards. */
  build(): AccountList {
    return new AccountList(this.#byId);
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
