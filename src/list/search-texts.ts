import type { Account } from './account.js';
import { toNumbersText, toSearchText } from './fold-text.js';

/** Folded characters that are kept, of all accounts together. Further accounts are folded again for each search. */
export const MAX_KEPT_LENGTH = 20_000_000;

/** The texts of an account, folded for searching. */
export interface SearchText {
  /** Name, description and owner. */
  readonly words: string;
  /** IBANs and identifiers. */
  readonly numbers: string;
}

/** The search texts of a list. Each account is folded when somebody first searches it. */
export class SearchTexts {
  readonly #kept = new Map<Account, SearchText>();
  #keptLength = 0;

  constructor(private readonly maxKeptLength: number) {}

  of(account: Account): SearchText {
    const kept = this.#kept.get(account);
    if (kept) return kept;
    const text = { words: toSearchText(account), numbers: toNumbersText(account) };
    const length = text.words.length + text.numbers.length;
    if (this.#keptLength + length <= this.maxKeptLength) {
      this.#keptLength += length;
      this.#kept.set(account, text);
    }
    return text;
  }
}
