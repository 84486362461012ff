import type { Account } from './account.js';
import { toNumbersText, toSearchText } from './fold-text.js';

/** Longer texts are folded again for each search: a list of them would take several times its memory. */
const MAX_KEPT_LENGTH = 500;

/** An account, and its texts folded for searching. */
export class SearchableAccount {
  readonly #searchText: string | null;
  readonly #numbersText: string | null;

  constructor(readonly account: Account) {
    this.#searchText = keep(toSearchText(account));
    this.#numbersText = keep(toNumbersText(account));
  }

  /** Name, description and owner. */
  get searchText(): string {
    return this.#searchText ?? toSearchText(this.account);
  }

  /** IBANs and identifiers. */
  get numbersText(): string {
    return this.#numbersText ?? toNumbersText(this.account);
  }
}

const keep = (text: string): string | null => (text.length <= MAX_KEPT_LENGTH ? text : null);
