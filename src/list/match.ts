import type { Account } from './account.js';
import { asWhole, foldCase, foldNumber, foldText, type SearchTexts } from './search-texts.js';

type Match = (account: Account) => boolean;

/** A filter of the API (docs/api.md#query). */
interface Filter {
  /** For readers of the OpenAPI document. */
  readonly description: string;
  /** Characters of a wanted value. */
  readonly maxLength: number;
  /** Normalizes wanted values, so that equivalent ones share one response. */
  readonly fold: (wanted: string) => string;
  readonly create: (wanted: string, texts: SearchTexts) => Match;
}

/** Null matches nothing. */
const oneOf = (
  description: string,
  maxLength: number,
  valuesOf: (account: Account) => readonly (string | null)[],
): Filter => ({
  description,
  maxLength,
  fold: foldCase,
  create: (wanted) => (account) => valuesOf(account).some((value) => value !== null && foldCase(value) === wanted),
});

/** The filters. The API's parameters and their checks follow from this table. */
export const FILTERS = {
  status: oneOf('accounts with this status, in any letter case', 50, ({ status }) => [status]),
  currency: oneOf('accounts in this currency, in any letter case', 10, ({ currency }) => [currency]),
  iban: {
    description: 'accounts with this IBAN or identifier, compared by letters and digits',
    maxLength: 100,
    fold: foldNumber,
    create: (wanted, texts) => {
      const whole = asWhole(wanted);
      return (account) => texts.of(account).numbers.includes(whole);
    },
  },
  ownerId: oneOf('accounts of the owner with this id, in any letter case', 200, ({ owner }) => [owner.id]),
  q: {
    description:
      'part of name, description, IBAN, identifier or owner (the first 500 characters of each); letter case and accents are ignored, and IBANs and identifiers are compared by letters and digits',
    maxLength: 100,
    fold: foldText,
    create: (wanted, texts) => {
      const number = foldNumber(wanted);
      return (account) => {
        const { words, numbers } = texts.of(account);
        return words.includes(wanted) || (number !== '' && numbers.includes(number));
      };
    },
  },
} satisfies Readonly<Record<string, Filter>>;

export type FilterName = keyof typeof FILTERS;

/** Folded filters for accounts; all given ones must match, and none is empty. */
export type Filters = { readonly [K in FilterName]?: string | undefined };

/** Null without filters. */
export function createMatch(filters: Filters, texts: SearchTexts): Match | null {
  const checks: Match[] = [];
  for (const [name, { create }] of Object.entries(FILTERS)) {
    const wanted = filters[name as FilterName];
    if (wanted !== undefined) checks.push(create(wanted, texts));
  }
  return checks.length === 0 ? null : (account) => checks.every((check) => check(account));
}
