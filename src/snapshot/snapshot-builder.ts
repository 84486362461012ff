import { createHash } from 'node:crypto';
import { GatewayError } from '../problems/gateway-error.js';
import type { Account } from './account.js';
import { AmountColumnBuilder, type AmountColumn } from './amount-column.js';
import { toByteOrder, toTexts } from './bytes.js';
import { CodedTextsBuilder, type CodedTexts } from './coded-texts.js';
import { foldValue, toNumbersText, toSearchText } from './fold-text.js';
import { compareInstants, parseInstant, type BankInstant } from './instant.js';
import { pack, unpack, type Section } from './layout.js';
import {
  AMOUNT_FIELDS,
  COLUMN_FIELDS,
  COLUMNS,
  type AmountField,
  type ColumnField,
  type SnapshotHeader,
} from './sections.js';
import {
  TEXT_SORT_FIELDS,
  toAmountOrder,
  toOrder,
  type Order,
  type SortField,
  type TextSortField,
} from './sort-order.js';
import { toColumn } from './value-column.js';

/** SHA-256. */
const DIGEST_BYTES = 32;
/** Limit for the currencies of accounts and balances in one list (docs/bank.md#bounds). */
const MAX_CURRENCIES = 500;

/** Takes accounts in any order and makes the bytes of a snapshot of them. Knows no threads. */
export class SnapshotBuilder {
  /** By its id, the place of an account in all that follows, which is in the order of coming. */
  readonly #rows = new Map<string, number>();
  readonly #pages: number[] = [];
  readonly #json: string[] = [];
  readonly #search: string[] = [];
  readonly #numbers: string[] = [];
  readonly #sortTexts = forEachOf<TextSortField, CodedTextsBuilder>(TEXT_SORT_FIELDS, () => new CodedTextsBuilder());
  readonly #columns = forEachOf<ColumnField, CodedTextsBuilder>(COLUMN_FIELDS, () => new CodedTextsBuilder());
  /** Currency of every CurrentBalance, for totals; other columns have its amounts, and the end of each account's own. */
  readonly #entryCurrencies = new CodedTextsBuilder();
  readonly #entryDates = new CodedTextsBuilder();
  readonly #amounts = forEachOf<AmountField, AmountColumnBuilder>(AMOUNT_FIELDS, () => new AmountColumnBuilder());
  readonly #entryEnds: number[] = [];
  readonly #currencies = new Set<string>();
  #entries = 0;

  /**
   * Adds an account, in place of one with the same id from the same page or an earlier one.
   * @throws GatewayError bank-response-invalid
   */
  add(account: Account, page: number): void {
    const before = this.#rows.get(account.id);
    if (before !== undefined && page < (this.#pages[before] as number)) return;
    this.#noteCurrency(account.currency, 'currency');
    for (const { currency } of account.balances) this.#noteCurrency(currency, 'balances[].currency');
    this.#rows.set(account.id, this.#pages.push(page) - 1);
    this.#json.push(JSON.stringify(account));
    this.#search.push(toSearchText(account));
    this.#numbers.push(toNumbersText(account));
    for (const field of TEXT_SORT_FIELDS) this.#sortTexts[field].push(account[field]);
    for (const field of COLUMN_FIELDS) this.#columns[field].push(COLUMNS[field](account));
    for (const balance of account.balances) {
      if (balance.type !== 'CurrentBalance') continue;
      this.#entries += 1;
      this.#entryCurrencies.push(balance.currency);
      this.#entryDates.push(balance.financialDate);
      for (const field of AMOUNT_FIELDS) this.#amounts[field].push(balance[field]);
    }
    this.#entryEnds.push(this.#entries);
  }

  /** The snapshot as one buffer. Nothing can be added afterwards. */
  finish({ asOf, complete }: Pick<SnapshotHeader, 'asOf' | 'complete'>): ArrayBuffer {
    const order = this.#orderById();
    const header: SnapshotHeader = { accounts: order.length, asOf, complete };
    const sections = {
      digest: new Uint8Array(DIGEST_BYTES),
      ...Object.assign(
        {},
        ...COLUMN_FIELDS.map((field) => {
          const { codes, values } = toColumn(this.#columns[field].take(order), foldValue);
          return {
            [`${field}Codes`]: codes,
            [`${field}Values`]: values.bytes,
            [`${field}ValueOffsets`]: values.offsets,
          };
        }),
        ...TEXT_SORT_FIELDS.map((field) => toOrderSections(field, toOrder(field, this.#sortTexts[field].take(order)))),
      ),
      ...this.#entrySections(order),
    };
    const inOrder = (texts: readonly string[]) => Array.from(order, (row) => texts[row] as string);
    const buffer = pack(header, sections, {
      json: inOrder(this.#json),
      search: inOrder(this.#search),
      numbers: inOrder(this.#numbers),
    });
    const { digest, json } = unpack(buffer, { digest: 'u8', json: 'u8' } as const).sections;
    digest.set(createHash('sha256').update(json).digest());
    return buffer;
  }

  #noteCurrency(currency: string | null, path: string): void {
    if (currency === null) return;
    this.#currencies.add(currency);
    if (this.#currencies.size <= MAX_CURRENCIES) return;
    throw new GatewayError(
      'bank-response-invalid',
      `In the account list, ${path} has more than ${MAX_CURRENCIES} different values.`,
    );
  }

  #orderById(): Uint32Array {
    const keys = [...this.#rows.keys()].map(toIdKey);
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    const places = [...keys.keys()].sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1));
    return Uint32Array.from(places, (place) => rows[place] as number);
  }

  #entrySections(order: Uint32Array): Record<string, Section> {
    // of accounts that were replaced there may be fewer
    const entries = new Uint32Array(this.#entries);
    const positions = new Uint32Array(this.#entries);
    let count = 0;
    order.forEach((row, position) => {
      for (let entry = this.#entryEnds[row - 1] ?? 0; entry < (this.#entryEnds[row] as number); entry++) {
        entries[count] = entry;
        positions[count++] = position;
      }
    });
    return this.#toEntrySections(entries.subarray(0, count), positions.subarray(0, count), order.length);
  }

  #toEntrySections(entries: Uint32Array, positions: Uint32Array, accounts: number): Record<string, Section> {
    const currency = toColumn(this.#entryCurrencies.take(entries));
    const dates = toDates(this.#entryDates.take(entries));
    const amounts = forEachOf<AmountField, AmountColumn>(AMOUNT_FIELDS, (field) => this.#amounts[field].take(entries));
    // an account is sorted by the first of its entries
    const firsts = new Int32Array(accounts).fill(-1);
    positions.forEach((position, entry) => {
      if (firsts[position] === -1) firsts[position] = entry;
    });
    return {
      entryPositions: positions,
      entryCurrencyCodes: currency.codes,
      entryCurrencyValues: currency.values.bytes,
      entryCurrencyValueOffsets: currency.values.offsets,
      entryDates: dates.codes,
      dates: dates.values.bytes,
      dateOffsets: dates.values.offsets,
      dateRanks: dates.ranks,
      ...toOrderSections('current', toAmountOrder(firsts, amounts.current, currency)),
      ...Object.assign({}, ...AMOUNT_FIELDS.map((field) => toAmountSections(field, amounts[field]))),
    };
  }
}

const toOrderSections = (field: SortField, { ascending, descending }: Order): Record<string, Section> => ({
  [`${field}Ascending`]: ascending,
  [`${field}Descending`]: descending,
});

const toAmountSections = (field: AmountField, { units, places, long }: AmountColumn): Record<string, Section> => ({
  [`${field}Units`]: units,
  [`${field}Places`]: places,
  [`${field}Long`]: long.bytes,
  [`${field}LongOffsets`]: long.offsets,
});

/**
 * Dates as numbers: 0 for none and for what is no date, else one more than the place of the text in `values`; `ranks`
 * has the order of the instants that the texts name.
 */
function toDates({ codes, different }: CodedTexts) {
  const instants: { readonly code: number; readonly text: string; readonly instant: BankInstant }[] = [];
  different.forEach((text, place) => {
    const instant = parseInstant(text);
    if (instant !== null) instants.push({ code: place + 1, text, instant });
  });
  instants.sort((a, b) => compareInstants(a.instant, b.instant));
  const newCodes = new Uint32Array(different.length + 1);
  const ranks = new Uint32Array(instants.length);
  instants.forEach(({ code, instant }, index) => {
    newCodes[code] = index + 1;
    const before = instants[index - 1];
    ranks[index] = before && compareInstants(before.instant, instant) === 0 ? (ranks[index - 1] as number) : index;
  });
  return {
    codes: codes.map((code) => newCodes[code] as number),
    values: toTexts(instants.map(({ text }) => text)),
    ranks,
  };
}

/** Orders ids by the bytes of their JSON text, with which the text of an account begins: so one is found by halving. */
const toIdKey = (id: string): string => toByteOrder(JSON.stringify(id));

function forEachOf<K extends string, V>(names: readonly K[], make: (name: K) => V): Readonly<Record<K, V>> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, V>;
}
