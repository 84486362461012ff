import type { Account } from './account.js';
import { toSortableDecimal } from './decimal.js';
import { toSortableInstant } from './sortable-instant.js';

/** The sort key of an account for each field. Accounts without a key come last in both directions. */
const SORT_KEYS = {
  name: ({ name }) => name,
  currency: ({ currency }) => currency,
  status: ({ status }) => status,
  openedAt: ({ openedAt }) => openedAt && toSortableInstant(openedAt),
  /** The first CurrentBalance, by currency, then amount. */
  current: ({ balances }) => {
    const entry = balances.find(({ type }) => type === 'CurrentBalance');
    if (!entry || entry.currency === null || entry.current === null) return null;
    return `${entry.currency}\u0000${toSortableDecimal(entry.current)}`;
  },
} satisfies Readonly<Record<string, (account: Account) => string | null>>;

export type SortField = keyof typeof SORT_KEYS;
export const SORT_FIELDS = Object.keys(SORT_KEYS) as SortField[];

/** A sort order: `-name` is by name, descending. */
export type Sort = SortField | `-${SortField}`;

/** Characters of a name. A crafted one of 4000 can take half a minute for a single comparison. */
const COLLATED_LENGTH = 100;

// English adds no rules to Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

/**
 * The accounts in order; those without a key last, ties by id. To sort in descending order, pass them in ascending order,
 * which is faster.
 */
export function sortAccounts(accounts: Iterable<Account>, field: SortField, direction: 1 | -1): Account[] {
  const toKey = SORT_KEYS[field];
  const keyed: { readonly key: string; readonly account: Account }[] = [];
  const withoutKey: Account[] = [];
  for (const account of accounts) {
    const key = toKey(account);
    if (key === null) withoutKey.push(account);
    else keyed.push({ key, account });
  }
  const compareKeys = field === 'name' ? compareNames : compareTexts;
  keyed.sort((a, b) => direction * compareKeys(a.key, b.key) || compareIds(a.account, b.account));
  withoutKey.sort(compareIds);
  return [...keyed.map(({ account }) => account), ...withoutKey];
}

const compareIds = (a: Account, b: Account): number => compareTexts(a.id, b.id);

/** Compares two strings by their code units: the same in every language. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Compares two names as people expect: 2 comes before 10. Longer names that agree in their first 100 characters are
 * ordered by code units.
 */
function compareNames(a: string, b: string): number {
  const order = collator.compare(a.slice(0, COLLATED_LENGTH), b.slice(0, COLLATED_LENGTH));
  if (order !== 0 || (a.length <= COLLATED_LENGTH && b.length <= COLLATED_LENGTH)) return order;
  return compareTexts(a, b);
}
