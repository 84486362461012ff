import { createHash } from 'node:crypto';
import type { Account } from './account.js';
import { AmountColumnBuilder } from './amount-column.js';
import { TextPile, toByteOrder, toTexts } from './bytes.js';
import { foldValue, toNumbersText, toSearchText } from './fold-text.js';
import { compareInstants, parseInstant, type BankInstant } from './instant.js';
import { pack, type Section } from './layout.js';
import {
  AMOUNT_FIELDS,
  COLUMN_FIELDS,
  COLUMNS,
  type AmountField,
  type ColumnField,
  type SnapshotHeader,
} from './sections.js';
import { SORT_FIELDS, toOrder, toSortText, type SortField } from './sort-order.js';
import { toColumn } from './value-column.js';

/** More different ones are not alike in many accounts. */
const MAX_SHARED = 5000;
/** SHA-256. */
const DIGEST_BYTES = 32;

/** Takes accounts in any order and makes the bytes of a snapshot of them. Knows no threads. */
export class SnapshotBuilder {
  /** By the key of its id, the place of an account in all that follows, which is in the order of coming. */
  readonly #rows = new Map<string, number>();
  readonly #pages: number[] = [];
  readonly #json = new TextPile();
  readonly #search = new TextPile();
  readonly #numbers = new TextPile();
  readonly #sortTexts = forEachOf<SortField, (string | null)[]>(SORT_FIELDS, () => []);
  readonly #columns = forEachOf<ColumnField, (string | null)[]>(COLUMN_FIELDS, () => []);
  /** Of every CurrentBalance: what totals are made of. And for each account where its own end. */
  readonly #entryCurrencies: (string | null)[] = [];
  readonly #entryDates: (string | null)[] = [];
  readonly #amounts = forEachOf<AmountField, AmountColumnBuilder>(AMOUNT_FIELDS, () => new AmountColumnBuilder());
  readonly #entryEnds: number[] = [];
  /** Texts that many accounts have alike, of which one copy is kept. */
  readonly #shared = new Map<string, string>();

  /** An account that came before is replaced, unless it came from a later page of the bank's. */
  add(account: Account, page: number): void {
    const key = toIdKey(account.id);
    const before = this.#rows.get(key);
    if (before !== undefined && page < (this.#pages[before] as number)) return;
    this.#rows.set(key, this.#pages.push(page) - 1);
    this.#json.push(JSON.stringify(account));
    this.#search.push(toSearchText(account));
    this.#numbers.push(toNumbersText(account));
    for (const field of SORT_FIELDS) this.#sortTexts[field].push(toSortText(field, account));
    for (const field of COLUMN_FIELDS) {
      const value = COLUMNS[field](account);
      this.#columns[field].push(this.#share(value && foldValue(value)));
    }
    for (const balance of account.balances) {
      if (balance.type !== 'CurrentBalance') continue;
      this.#entryCurrencies.push(this.#share(balance.currency));
      this.#entryDates.push(this.#share(balance.financialDate));
      for (const field of AMOUNT_FIELDS) this.#amounts[field].push(balance[field]);
    }
    this.#entryEnds.push(this.#entryCurrencies.length);
  }

  /** The snapshot as one buffer. Nothing can be added afterwards. */
  finish({ asOf, complete }: Pick<SnapshotHeader, 'asOf' | 'complete'>): ArrayBuffer {
    const order = this.#orderById();
    const pick = <T>(values: readonly T[]): T[] => Array.from(order, (row) => values[row] as T);
    const json = this.#json.take(order);
    const search = this.#search.take(order);
    const numbers = this.#numbers.take(order);
    const header: SnapshotHeader = { accounts: order.length, asOf, complete };
    return pack(header, {
      json: json.bytes,
      jsonOffsets: json.offsets,
      digest: {
        byteLength: DIGEST_BYTES,
        writeInto: (place, written) => place.set(createHash('sha256').update(written('json')).digest()),
      },
      search: search.bytes,
      searchOffsets: search.offsets,
      numbers: numbers.bytes,
      numbersOffsets: numbers.offsets,
      ...Object.assign(
        {},
        ...COLUMN_FIELDS.map((field) => {
          const { codes, values } = toColumn(pick(this.#columns[field]));
          return {
            [`${field}Codes`]: codes,
            [`${field}Values`]: values.bytes,
            [`${field}ValueOffsets`]: values.offsets,
          };
        }),
        ...SORT_FIELDS.map((field) => {
          const { ascending, descending } = toOrder(field, pick(this.#sortTexts[field]));
          return { [`${field}Ascending`]: ascending, [`${field}Descending`]: descending };
        }),
      ),
      ...this.#entrySections(order),
    });
  }

  #orderById(): Uint32Array {
    const keys = [...this.#rows.keys()].sort();
    const order = Uint32Array.from(keys, (key) => this.#rows.get(key) as number);
    this.#rows.clear();
    return order;
  }

  #share(text: string | null): string | null {
    if (text === null) return null;
    const shared = this.#shared.get(text);
    if (shared !== undefined) return shared;
    if (this.#shared.size < MAX_SHARED) this.#shared.set(text, text);
    return text;
  }

  #entrySections(order: Uint32Array): Record<string, Section> {
    const entries: number[] = [];
    const positions: number[] = [];
    order.forEach((row, position) => {
      for (let entry = this.#entryEnds[row - 1] ?? 0; entry < (this.#entryEnds[row] as number); entry++) {
        entries.push(entry);
        positions.push(position);
      }
    });
    const currency = toColumn(entries.map((entry) => this.#entryCurrencies[entry] as string | null));
    const dates = toDates(entries.map((entry) => this.#entryDates[entry] as string | null));
    const amounts = AMOUNT_FIELDS.map((field) => {
      const { mantissas, places, long } = this.#amounts[field].take(entries);
      return {
        [`${field}Mantissas`]: mantissas,
        [`${field}Places`]: places,
        [`${field}Long`]: long.bytes,
        [`${field}LongOffsets`]: long.offsets,
      };
    });
    return {
      entryPositions: Uint32Array.from(positions),
      entryCurrencyCodes: currency.codes,
      entryCurrencyValues: currency.values.bytes,
      entryCurrencyValueOffsets: currency.values.offsets,
      entryDates: dates.codes,
      dates: dates.values.bytes,
      dateOffsets: dates.values.offsets,
      dateRanks: dates.ranks,
      ...Object.assign({}, ...amounts),
    };
  }
}

/**
 * Dates as numbers: 0 for none and for what is no date, else one more than the place of the text in `values`; `ranks`
 * tells the order of the instants that the texts name.
 */
function toDates(texts: readonly (string | null)[]) {
  const instants: { readonly text: string; readonly instant: BankInstant }[] = [];
  for (const text of new Set(texts)) {
    const instant = text === null ? null : parseInstant(text);
    if (text !== null && instant !== null) instants.push({ text, instant });
  }
  instants.sort((a, b) => compareInstants(a.instant, b.instant));
  const codes = new Map<string | null, number>(instants.map(({ text }, index) => [text, index + 1]));
  const ranks = new Uint32Array(instants.length);
  instants.forEach(({ instant }, index) => {
    const before = instants[index - 1];
    ranks[index] = before && compareInstants(before.instant, instant) === 0 ? (ranks[index - 1] as number) : index;
  });
  return {
    codes: Uint32Array.from(texts, (text) => codes.get(text) ?? 0),
    values: toTexts(instants.map(({ text }) => text)),
    ranks,
  };
}

/** Orders ids by the bytes of their JSON text, with which the text of an account begins: so one is found by halving. */
const toIdKey = (id: string): string => toByteOrder(JSON.stringify(id));

function forEachOf<K extends string, V>(names: readonly K[], make: () => V): Readonly<Record<K, V>> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<K, V>;
}
