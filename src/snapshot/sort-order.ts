import { compareTexts } from './compare-texts.js';
import { compareDecimals } from './decimal.js';
import { compareInstants, parseInstant } from './instant.js';

export const SORT_FIELDS = ['name', 'currency', 'status', 'openedAt', 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** The rank of an account without a value: it comes last in both directions. */
export const NO_RANK = 0xffff_ffff;

// English has no rules of its own beyond Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

/** Sort key of an account: its first CurrentBalance. */
export interface SortedAmount {
  readonly currency: string;
  readonly amount: string;
}

/** Ranks of names in natural order: 2 comes before 10. */
export const rankNames = (names: readonly string[]): Uint32Array => toRanks(names, (name) => name, collator.compare);

export const rankTexts = (texts: readonly (string | null)[]): Uint32Array =>
  toRanks(texts, (text) => text, compareTexts);

/** Ranks of dates as instants; a text that is no date has no rank. */
export const rankDates = (dates: readonly (string | null)[]): Uint32Array =>
  toRanks(dates, parseInstant, compareInstants);

/** Ranks of amounts, exactly and within their currency. */
export const rankAmounts = (amounts: readonly (SortedAmount | null)[]): Uint32Array =>
  toRanks(
    amounts,
    (amount) => amount,
    (a, b) => compareTexts(a.currency, b.currency) || compareDecimals(a.amount, b.amount),
  );

/**
 * Ranks by position, from 0; equal values have the same. Only values that differ are compared.
 * @param toKey the key that a value is sorted by; null for none
 */
function toRanks<V, K>(
  values: readonly (V | null)[],
  toKey: (value: V) => K | null,
  compare: (a: K, b: K) => number,
): Uint32Array {
  const keys = new Map<V, K>();
  for (const value of new Set(values)) {
    const key = value === null ? null : toKey(value);
    if (value !== null && key !== null) keys.set(value, key);
  }
  const sorted = [...keys].sort(([, a], [, b]) => compare(a, b));
  const ranks = new Map<V | null, number>();
  let rank = 0;
  sorted.forEach(([value, key], index) => {
    const before = sorted[index - 1];
    if (before && compare(before[1], key) !== 0) rank += 1;
    ranks.set(value, rank);
  });
  return Uint32Array.from(values, (value) => ranks.get(value) ?? NO_RANK);
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
