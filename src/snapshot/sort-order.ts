import type { CodedTexts } from './coded-texts.js';
import { compareTexts } from './compare-texts.js';
import { compareDecimals } from './decimal.js';
import { compareInstants, parseInstant } from './instant.js';
import type { Account } from './account.js';

export const SORT_FIELDS = ['name', 'currency', 'status', 'openedAt', 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** How accounts are sorted (docs/api.md#query): by a text of each, and by an order of what the texts stand for. */
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
  readonly rank: (texts: CodedTexts) => Ranks;
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
interface Order {
  readonly ascending: Uint32Array;
  readonly descending: Uint32Array;
}

/** The order of the accounts by their texts of this field; nulls last in both, ties by position. */
export function toOrder(field: SortField, texts: CodedTexts): Order {
  const { ranks, count } = SORTINGS[field].rank(texts);
  return {
    ascending: placeByRank(ranks, count),
    descending: placeByRank(
      ranks.map((each) => (each === count ? count : count - 1 - each)),
      count,
    ),
  };
}

/** By position the place of its key among all different ones; `count`, the number of these, for null. */
interface Ranks {
  readonly ranks: Uint32Array;
  readonly count: number;
}

/** Only texts that differ are compared with each other. */
function toRanks<K>({ codes, different }: CodedTexts, { read, compare }: SortKey<K>): Ranks {
  const keys = different.map(read);
  const sorted = [...keys.keys()].filter((place) => keys[place] !== null);
  const order = (a: number, b: number) => compare(keys[a] as K, keys[b] as K);
  sorted.sort(order);
  const rankOf = new Int32Array(keys.length + 1).fill(-1);
  let count = 0;
  sorted.forEach((place, index) => {
    if (index > 0 && order(sorted[index - 1] as number, place) !== 0) count += 1;
    rankOf[place + 1] = count;
  });
  if (sorted.length > 0) count += 1;
  const ranks = codes.map((code) => {
    const rank = rankOf[code] as number;
    return rank === -1 ? count : rank;
  });
  return { ranks, count };
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
