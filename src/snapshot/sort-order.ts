import { compareAmounts, isNull, type AmountColumn } from './amount-column.js';
import { toTextList } from './bytes.js';
import type { CodedTexts } from './coded-texts.js';
import { compareTexts } from './compare-texts.js';
import { compareInstants, parseInstant } from './instant.js';
import type { ValueColumn } from './value-column.js';

export const TEXT_SORT_FIELDS = ['name', 'currency', 'status', 'openedAt'] as const;
export type TextSortField = (typeof TEXT_SORT_FIELDS)[number];
export const SORT_FIELDS = [...TEXT_SORT_FIELDS, 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** Key of a text sort field (docs/api.md#query): accounts are sorted by what the text stands for. */
interface SortKey<K> {
  /** Value of a text; null comes last. */
  readonly read: (text: string) => K | null;
  readonly compare: (a: K, b: K) => number;
}

// English has no rules of its own beyond Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

const same = (text: string): string => text;

const by =
  <K>(key: SortKey<K>) =>
  (texts: CodedTexts): Ranks =>
    toRanks(texts, key);

/** Names as people read them, dates as instants. */
const RANKINGS: Readonly<Record<TextSortField, (texts: CodedTexts) => Ranks>> = {
  name: by({ read: same, compare: collator.compare }),
  currency: by({ read: same, compare: compareTexts }),
  status: by({ read: same, compare: compareTexts }),
  openedAt: by({ read: parseInstant, compare: compareInstants }),
};

/** Every position, in one order and its reverse. */
export interface Order {
  readonly ascending: Uint32Array;
  readonly descending: Uint32Array;
}

/** The order of the accounts by their texts of this field; nulls last in both, ties by position. */
export const toOrder = (field: TextSortField, texts: CodedTexts): Order => toBothWays(RANKINGS[field](texts));

/**
 * The order by amounts, exactly and within their currency. Last come those without an amount or a currency.
 * @param entries for each position where its amount and the code of its currency stand; -1 for none
 */
export function toAmountOrder(entries: Int32Array, amounts: AmountColumn, currency: ValueColumn): Order {
  const currencies = toTextList(currency.values);
  const { ranks, count } = toRanks(
    { codes: currency.codes, different: currencies },
    { read: same, compare: compareTexts },
  );
  const sorted = Uint32Array.from(entries.keys()).filter((position) => {
    const entry = entries[position] as number;
    return entry !== -1 && !isNull(amounts, entry) && ranks[entry] !== count;
  });
  const order = (a: number, b: number): number => {
    const [left, right] = [entries[a] as number, entries[b] as number];
    return (ranks[left] as number) - (ranks[right] as number) || compareAmounts(amounts, left, right);
  };
  return toBothWays(rank(entries.length, sorted.sort(order), order));
}

/** Ranks among the distinct values, by place; `count`, the number of values, for null. */
interface Ranks {
  readonly ranks: Uint32Array;
  readonly count: number;
}

/** Only texts that differ are compared with each other. */
function toRanks<K>({ codes, different }: CodedTexts, { read, compare }: SortKey<K>): Ranks {
  const keys = different.map(read);
  const order = (a: number, b: number) => compare(keys[a] as K, keys[b] as K);
  const sorted = [...keys.keys()].filter((place) => keys[place] !== null);
  // nearly the order that is wanted, at a fraction of the cost: what is in order is not compared again
  sorted.sort((a, b) => compareTexts(different[a] as string, different[b] as string));
  sorted.sort(order);
  const { ranks, count } = rank(keys.length, sorted, order);
  return { ranks: codes.map((code) => (code === 0 ? count : (ranks[code - 1] as number))), count };
}

/** The ranks of places that have been sorted; those of `size` places that are not among them stand for null. */
function rank(size: number, sorted: ArrayLike<number>, order: (a: number, b: number) => number): Ranks {
  const ranks = new Uint32Array(size);
  let count = 0;
  for (let index = 0; index < sorted.length; index++) {
    const place = sorted[index] as number;
    if (index === 0 || order(sorted[index - 1] as number, place) !== 0) count += 1;
    ranks[place] = count;
  }
  // until here 0 stood for null
  return { ranks: ranks.map((each) => (each === 0 ? count : each - 1)), count };
}

function toBothWays({ ranks, count }: Ranks): Order {
  return {
    ascending: placeByRank(ranks, count),
    descending: placeByRank(
      ranks.map((each) => (each === count ? count : count - 1 - each)),
      count,
    ),
  };
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
