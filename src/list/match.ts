import type { Account } from './account.js';
import { asWhole, foldCase, withoutSpaces } from './fold-text.js';
import type { SearchTexts } from './search-texts.js';

type Match = (account: Account) => boolean;

/** Looks for the wanted value among some of an account, without letter case; null matches nothing. */
const isOneOf =
  (valuesOf: (account: Account) => readonly (string | null)[]) =>
  (wanted: string): Match =>
  (account) =>
    valuesOf(account).some((value) => value !== null && foldCase(value) === wanted);

/**
 * The filters, each as a function that creates the check for a wanted value, which is folded already
 * (accounts/list-query.ts). Add a filter here (docs/api.md#query).
 */
const FILTERS = {
  status: isOneOf(({ status }) => [status]),
  currency: isOneOf(({ currency }) => [currency]),
  ownerId: isOneOf(({ owner }) => [owner.id]),
  iban: (wanted: string, texts: SearchTexts): Match => {
    const whole = asWhole(wanted);
    return (account) => texts.of(account).numbers.includes(whole);
  },
  q: (wanted: string, texts: SearchTexts): Match => {
    const number = withoutSpaces(wanted);
    return (account) => {
      const { words, numbers } = texts.of(account);
      return words.includes(wanted) || numbers.includes(number);
    };
  },
} satisfies Readonly<Record<string, (wanted: string, texts: SearchTexts) => Match>>;

/** Filters for accounts, folded; all given ones must match, and none is empty. */
export type Filters = { readonly [K in keyof typeof FILTERS]?: string | undefined };

/** Creates the check for filters; null if there are none. */
export function createMatch(filters: Filters, texts: SearchTexts): Match | null {
  const checks: Match[] = [];
  for (const [name, create] of Object.entries(FILTERS)) {
    const wanted = filters[name as keyof Filters];
    if (wanted !== undefined) checks.push(create(wanted, texts));
  }
  return checks.length === 0 ? null : (account) => checks.every((check) => check(account));
}
