import { compareDecimals, compareTexts } from './compare-decimals.js';
import { compareInstants, parseInstant } from './instant.js';
import type { Account } from './account.js';

export const SORT_FIELDS = ['name', 'currency', 'status', 'openedAt', 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** How accounts are sorted (docs/api.md, Sort): by a text of each, and by an order of what the texts stand for. */
interface SortKey<K> {
  /** Equal for all that are equal to the letter; null comes last. */
  readonly text: (account: Account) => string | null;
  /** What a text stands for; null comes last, too. */
  readonly read: (text: string) => K | null;
  readonly compare: (a: K, b: K) => number;
}

// English has no rules of its own beyond Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

const same = (text: string): string => text;

interface Current {
  readonly currency: string;
  readonly amount: string;
  /** Rounded to a double, which settles most comparisons. */
  readonly about: number;
}

interface Sorting {
  readonly text: (account: Account) => string | null;
  readonly rank: (texts: readonly (string | null)[]) => Ranks;
}

const by = <K>(key: SortKey<K>): Sorting => ({ text: key.text, rank: (texts) => toRanks(texts, key) });

/** Names as people read them, dates as instants, amounts exactly and within their currency. */
const SORTINGS: Readonly<Record<SortField, Sorting>> = {
  name: by({ text: ({ name }) => name, read: same, compare: collator.compare }),
  currency: by({ text: ({ currency }) => currency, read: same, compare: compareTexts }),
  status: by({ text: ({ status }) => status, read: same, compare: compareTexts }),
  openedAt: by({ text: ({ openedAt }) => openedAt, read: parseInstant, compare: compareInstants }),
  current: by({ text: toCurrentText, read: readCurrent, compare: compareCurrent }),
};

/** What an account is sorted by in this order, as a text. */
export const toSortText = (field: SortField, account: Account): string | null => SORTINGS[field].text(account);

/** Of the first CurrentBalance; null when there is none, or its amount or currency is not known. */
function toCurrentText({ balances }: Account): string | null {
  const balance = balances.find(({ type }) => type === 'CurrentBalance');
  if (!balance || balance.current === null || balance.currency === null) return null;
  return `${balance.current} ${balance.currency}`;
}

function readCurrent(text: string): Current {
  const space = text.indexOf(' ');
  const amount = text.slice(0, space);
  return { currency: text.slice(space + 1), amount, about: Number(amount) };
}

function compareCurrent(a: Current, b: Current): number {
  if (a.currency !== b.currency) return compareTexts(a.currency, b.currency);
  return a.about < b.about ? -1 : a.about > b.about ? 1 : compareDecimals(a.amount, b.amount);
}

/** Every position, in one order and its reverse. */
export interface Order {
  readonly ascending: Uint32Array;
  readonly descending: Uint32Array;
}

/** The order of the accounts by their texts of this field; nulls last in both, ties by position. */
export function toOrder(field: SortField, texts: readonly (string | null)[]): Order {
  const { ranks, count } = SORTINGS[field].rank(texts);
  return {
    ascending: placeByRank(ranks, count),
    descending: placeByRank(
      ranks.map((each) => (each === count ? count : count - 1 - each)),
      count,
    ),
  };
}

/** For each text the place of its key among all different ones; `count`, the number of these, for null. */
interface Ranks {
  readonly ranks: Uint32Array;
  readonly count: number;
}

/** Only texts that differ are compared with each other. */
function toRanks<K>(texts: readonly (string | null)[], { read, compare }: SortKey<K>): Ranks {
  const different: { readonly text: string; readonly key: K }[] = [];
  for (const text of new Set(texts)) {
    const key = text === null ? null : read(text);
    if (text !== null && key !== null) different.push({ text, key });
  }
  different.sort((a, b) => compare(a.key, b.key));
  const rankOf = new Map<string | null, number>();
  let count = 0;
  different.forEach(({ text, key }, index) => {
    const before = different[index - 1];
    if (before && compare(before.key, key) !== 0) count += 1;
    rankOf.set(text, count);
  });
  if (different.length > 0) count += 1;
  return { ranks: Uint32Array.from(texts, (text) => rankOf.get(text) ?? count), count };
}

/** Positions by rank, those of one rank in their order: a counting sort. */
function placeByRank(ranks: Uint32Array, highest: number): Uint32Array {
  const starts = new Uint32Array(highest + 2);
  for (const each of ranks) starts[each + 1]! += 1;
  for (let at = 1; at < starts.length; at++) starts[at]! += starts[at - 1] as number;
  const order = new Uint32Array(ranks.length);
  for (let position = 0; position < ranks.length; position++) order[starts[ranks[position] as number]!++] = position;
  return order;
}
