import type { Account } from './account.js';

export interface SearchText {
  /** Name, description and owner. */
  readonly words: string;
  /** IBANs and identifiers. */
  readonly numbers: string;
}

/** The search texts of a list. An account is folded when it is searched, and kept while memory allows. */
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

export const foldCase = (text: string): string => text.toLowerCase();

/** Removes letter case, accents, strokes and format characters (soft hyphen …); any white space is one space. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return withSingleSpaces(text).toUpperCase();
  const visible = withSingleSpaces(text.replace(/\p{Cf}/gu, ''));
  // upper case writes ß as SS and unifies all forms of a letter, but only after lower case has made ẞ a ß
  const upper = visible.toLowerCase().toUpperCase();
  // removes separate accents first, because normalize takes quadratic time to order many of them
  const plain = withoutMarks(withoutMarks(upper).normalize('NFD'));
  return plain.replace(/[ØŁĐĦŦÆŒ]/g, (letter) => UNDECOMPOSED[letter] ?? letter);
}

/** Keeps letters and digits of an IBAN or identifier, without letter case, accents and a leading "IBAN". */
export const foldNumber = (text: string): string =>
  foldText(text)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^IBAN(?=[A-Z]{2}\d\d)/, '');

/** Characters (UTF-16 units) of each text to search. */
const SEARCHED_LENGTH = 500;
/** Characters of all IBANs and identifiers of an account to search: more than 200 IBANs. */
const SEARCHED_NUMBERS_LENGTH = 8000;
// no search value contains these
const BETWEEN = '\n';
/** End of a truncated text, which is not a whole value. */
const CUT = '\0';

function toSearchText({ name, description, owner }: Account): string {
  const texts = [name, description, owner.id, owner.name, owner.number];
  return BETWEEN + texts.map((text) => toLine(text, foldText)).join('');
}

function toNumbersText({ ibans, identifiers }: Account): string {
  let lines = BETWEEN;
  for (const number of [...ibans, ...identifiers.map(({ account }) => account)]) {
    if (lines.length < SEARCHED_NUMBERS_LENGTH) lines += toLine(number, foldNumber);
  }
  return lines;
}

/** A folded value with delimiters, so that it matches whole values only. */
export const asWhole = (folded: string): string => `${BETWEEN}${folded}${BETWEEN}`;

function toLine(text: string | null, fold: (text: string) => string): string {
  if (text === null) return '';
  return (text.length <= SEARCHED_LENGTH ? fold(text) : fold(text.slice(0, SEARCHED_LENGTH)) + CUT) + BETWEEN;
}

/** The text with each run of white space as one space, and none at its ends. U+0085 is a line end, too. */
const withSingleSpaces = (text: string): string => text.replace(/[\s\u0085]+/g, ' ').trim();

const withoutMarks = (text: string): string => text.replace(/\p{M}/gu, '');
