import type { Account } from './account.js';

/**
 * Maximum number of folded characters to keep, over all accounts. Further accounts are folded again for each search.
 */
export const MAX_KEPT_LENGTH = 20_000_000;

/** The texts of an account, folded for searching. */
export interface SearchText {
  /** Name, description and owner. */
  readonly words: string;
  /** IBANs and identifiers. */
  readonly numbers: string;
}

/** The search texts of a list. Each account is folded when it is first searched. */
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

const ASCII = /^\p{ASCII}*$/u;

/** Upper-case letters that Unicode does not decompose: with a stroke, or ligatures of two letters. */
const UNDECOMPOSED: Readonly<Record<string, string>> = { Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE' };

/** Folds a whole value for comparison: removes only letter case. */
export const foldCase = (text: string): string => text.toLowerCase();

/** Folds a text for searching: removes letter case, accents and strokes. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  // upper case writes ß as SS and unifies all forms of a letter, but only after lower case has made ẞ a ß
  const upper = text.toLowerCase().toUpperCase();
  // removes separate accents first, because normalize takes quadratic time to order many of them
  const plain = withoutMarks(withoutMarks(upper).normalize('NFD'));
  return plain.replace(/[ØŁĐĦŦÆŒ]/g, (letter) => UNDECOMPOSED[letter] ?? letter);
}

/** Folds an IBAN or identifier for comparison: removes spaces, letter case and accents. */
export function foldNumber(text: string): string {
  return foldText(withoutSpaces(text));
}

/** Number of characters (UTF-16 units) of each text to search. */
const SEARCHED_LENGTH = 500;
/** Delimiter between and around texts; no search value contains it. */
const BETWEEN = '\n';
/** End marker of a truncated text, which is not a whole value. No search value contains it. */
const CUT = '\0';

/** Text that `q` searches: name, description and owner, folded. */
export function toSearchText({ name, description, owner }: Account): string {
  const lines = toLine(name) + toLine(description) + toLine(owner.id) + toLine(owner.name) + toLine(owner.number);
  return foldText(BETWEEN + lines);
}

/** All IBANs and identifiers, folded; `iban` and `q` search them. */
export function toNumbersText({ ibans, identifiers }: Account): string {
  let lines = BETWEEN;
  for (const iban of ibans) lines += toLine(withoutSpaces(iban));
  for (const { account } of identifiers) if (account !== null) lines += toLine(withoutSpaces(account));
  return foldText(lines);
}

/** A folded value with delimiters, so that it matches whole values only. */
export const asWhole = (folded: string): string => `${BETWEEN}${folded}${BETWEEN}`;

function toLine(text: string | null): string {
  if (text === null) return '';
  return (text.length <= SEARCHED_LENGTH ? text : text.slice(0, SEARCHED_LENGTH) + CUT) + BETWEEN;
}

const withoutMarks = (text: string): string => text.replace(/\p{M}/gu, '');

/** The text without any white space. */
export const withoutSpaces = (text: string): string => text.replace(/\s+/g, '');
