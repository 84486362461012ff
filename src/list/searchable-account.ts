import type { Account } from './account.js';
import { toNumbersText, toSearchText } from './fold-text.js';

/** Longer texts are folded again for each search: a list of them would take several times its memory. */
const MAX_KEPT_LENGTH = 500;

/** An account, and its texts folded for searching. They are folded when a filter first looks at them. */
export class SearchableAccount {
  #searchText: string | null = null;
  #numbersText: string | null = null;

  constructor(readonly account: Account) {}

  /** Name, description and owner. */
  get searchText(): string {
    if (this.#searchText !== null) return this.#searchText;
    const text = toSearchText(this.account);
    if (text.length <= MAX_KEPT_LENGTH) this.#searchText = text;
    return text;
  }

  /** IBANs and identifiers. */
  get numbersText(): string {
    if (this.#numbersText !== null) return this.#numbersText;
    const text = toNumbersText(this.account);
    if (text.length <= MAX_KEPT_LENGTH) this.#numbersText = text;
    return text;
  }
}
