import type { Account } from './account.js';
import { toSortableDecimal } from './decimal.js';
import { toSortableInstant } from './sortable-instant.js';

/** The fields to sort accounts by, and the sort key of an account for each. Accounts without a key come last in both directions. */
export const SORT_KEYS = {
  name: ({ name }) => name,
  currency: ({ currency }) => currency,
  status: ({ status }) => status,
  openedAt: ({ openedAt }) => openedAt && toSortableInstant(openedAt),
  /** The first CurrentBalance, by currency, then amount. */
  current: ({ balances }) => {
    const { currency, current } = balances.find(({ type }) => type === 'CurrentBalance') ?? {};
    return currency != null && current != null ? `${currency}\u0000${toSortableDecimal(current)}` : null;
  },
} satisfies Readonly<Record<string, (account: Account) => string | null>>;

export type SortField = keyof typeof SORT_KEYS;
export const SORT_FIELDS = Object.keys(SORT_KEYS) as SortField[];

/** The rank of an account without a key. */
const NO_RANK = 0xffff_ffff;

// English has no rules of its own beyond Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

/** Orders two texts by their code units: less than 0 when `a` comes before `b`. The same in every language. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Ranks of the keys by position, from 0; equal keys have the same. Names are in natural order: 2 comes before 10. */
export function toRanks(field: SortField, keys: readonly (string | null)[]): Uint32Array {
  const compare = field === 'name' ? collator.compare : compareTexts;
  const sorted = [...new Set(keys)].filter((key) => key !== null).sort(compare);
  const ranks = new Map<string | null, number>([[null, NO_RANK]]);
  let rank = 0;
  sorted.forEach((key, index) => {
    if (index > 0 && compare(sorted[index - 1] as string, key) !== 0) rank += 1;
    ranks.set(key, rank);
  });
  return Uint32Array.from(keys, (key) => ranks.get(key) as number);
}

/** All positions by their ranks, those without one last, ties by position: a counting sort. */
export function toOrder(ranks: Uint32Array, descending: boolean): Uint32Array {
  let highest = 0;
  for (const rank of ranks) if (rank !== NO_RANK && rank > highest) highest = rank;
  const toPlace = (rank: number) => (rank === NO_RANK ? highest + 1 : descending ? highest - rank : rank);
  const starts = new Uint32Array(highest + 3);
  for (const rank of ranks) starts[toPlace(rank) + 1]! += 1;
  for (let at = 1; at < starts.length; at++) starts[at]! += starts[at - 1] as number;
  const order = new Uint32Array(ranks.length);
  ranks.forEach((rank, position) => {
    order[starts[toPlace(rank)]!++] = position;
  });
  return order;
}
