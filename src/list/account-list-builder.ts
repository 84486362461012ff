import { GatewayError } from '../errors/gateway-error.js';
import { AccountList } from './account-list.js';
import type { Account } from './account.js';

/** Limit for the currencies of accounts and balances in one list (docs/bounds.md#the-bank). */
const MAX_CURRENCIES = 500;

/** Gathers the accounts of one pass over the bank's pages. */
export class AccountListBuilder {
  readonly #byId = new Map<string, Account>();
  readonly #currencies = new Set<string>();

  /** Adds an account, in place of an earlier one with the same id. @throws GatewayError bank-response-invalid */
  add(account: Account): void {
    this.#addCurrency(account.currency, 'currency');
    for (const { currency } of account.balances) this.#addCurrency(currency, 'balances[].currency');
    this.#byId.set(account.id, account);
  }

  /** Nothing can be added afterwards. */
  build(): AccountList {
    return new AccountList(this.#byId);
  }

  #addCurrency(currency: string | null, path: string): void {
    if (currency === null) return;
    this.#currencies.add(currency);
    if (this.#currencies.size <= MAX_CURRENCIES) return;
    const detail = `In the account list, ${path} has more than ${MAX_CURRENCIES} different values.`;
    throw new GatewayError('bank-response-invalid', detail);
  }
}
