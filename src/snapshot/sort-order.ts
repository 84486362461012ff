import { compareDecimals, compareTexts } from './compare-decimals.js';
import { compareInstants, parseInstant, type BankInstant } from './instant.js';
import type { Account } from './account.js';

export const SORT_FIELDS = ['name', 'currency', 'status', 'openedAt', 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** The key by which an account is sorted, and the order of keys that are not null (docs/api.md, Sort). */
export interface SortKey<K> {
  readonly of: (account: Account) => K | null;
  readonly compare: (a: K, b: K) => number;
}

// English has no rules of its own beyond Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

interface Current {
  readonly currency: string;
  readonly amount: string;
}

/** Names as people read them, dates as instants, amounts exactly and within their currency. */
export const SORT_KEYS = {
  name: { of: ({ name }) => name, compare: collator.compare } satisfies SortKey<string>,
  currency: { of: ({ currency }) => currency, compare: compareTexts } satisfies SortKey<string>,
  status: { of: ({ status }) => status, compare: compareTexts } satisfies SortKey<string>,
  openedAt: {
    of: ({ openedAt }) => (openedAt === null ? null : parseInstant(openedAt)),
    compare: compareInstants,
  } satisfies SortKey<BankInstant>,
  current: {
    of: toCurrent,
    compare: (a, b) => compareTexts(a.currency, b.currency) || compareDecimals(a.amount, b.amount),
  } satisfies SortKey<Current>,
} as const;

/** Of the first CurrentBalance; null when there is none, or its amount or currency is not known. */
function toCurrent({ balances }: Account): Current | null {
  const balance = balances.find(({ type }) => type === 'CurrentBalance');
  if (!balance || balance.current === null || balance.currency === null) return null;
  return { currency: balance.currency, amount: balance.current };
}

/** Every position, in one order and its reverse; nulls last in both, ties by position. */
export function sortPositions<K>(
  keys: readonly (K | null)[],
  compare: (a: K, b: K) => number,
): { readonly ascending: Uint32Array; readonly descending: Uint32Array } {
  const all = Uint32Array.from(keys.keys());
  const sorted = all.filter((position) => keys[position] !== null);
  const nulls = all.filter((position) => keys[position] === null);
  const order = (a: number, b: number) => compare(keys[a] as K, keys[b] as K);
  sorted.sort((a, b) => order(a, b) || a - b);
  const ascending = new Uint32Array(keys.length);
  ascending.set(sorted);
  ascending.set(nulls, sorted.length);
  return { ascending, descending: reversed(ascending, sorted.length, order) };
}

/** Groups of equals change places, but not those within a group, nor the nulls after `count`. */
function reversed(ascending: Uint32Array, count: number, order: (a: number, b: number) => number): Uint32Array {
  const descending = ascending.slice();
  let end = count;
  let next = 0;
  for (let start = count - 1; start >= 0; start--) {
    if (start > 0 && order(ascending[start - 1] as number, ascending[start] as number) === 0) continue;
    descending.set(ascending.subarray(start, end), next);
    next += end - start;
    end = start;
  }
  return descending;
}
