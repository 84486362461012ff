import { createHash } from 'node:crypto';
import { GatewayError } from '../errors/gateway-error.js';
import type { Account } from './account.js';
import { toNumbersText, toSearchText } from './fold-text.js';
import { COLUMN_FIELDS, COLUMNS, pack, unpack, type Section, type SnapshotHeader, type TextField } from './sections.js';
import { SORT_FIELDS, SORT_KEYS, toRanks } from './sort-order.js';
import { TextPile } from './text-pile.js';
import { toColumn } from './value-column.js';

/** Limit for the currencies of accounts and balances in one list (docs/bank.md#bounds). */
const MAX_CURRENCIES = 500;
/** Limit for the texts of one list: a balance of 2 bytes becomes 160 (docs/bank.md#bounds). */
const MAX_BYTES = 600_000_000;
/** Length of a SHA-256 hash. */
const DIGEST_BYTES = 32;

const TEXTS: Readonly<Record<TextField, (account: Account) => string>> = {
  json: JSON.stringify,
  search: toSearchText,
  numbers: toNumbersText,
};

/** Builds the bytes of a snapshot from accounts in any order. Independent of threads. */
export class SnapshotBuilder {
  /** Index of each account in the lists below, by its id. If an id comes twice, the later account counts. */
  readonly #indexes = new Map<string, number>();
  readonly #texts = createForEach(Object.keys(TEXTS) as TextField[], () => new TextPile());
  readonly #columns = createForEach(COLUMN_FIELDS, (): (string | null)[] => []);
  readonly #sortKeys = createForEach(SORT_FIELDS, (): (string | null)[] => []);
  readonly #currencies = new Set<string>();
  #count = 0;

  constructor(private readonly maxBytes = MAX_BYTES) {}

  /** Adds an account, in place of an earlier one with the same id. @throws GatewayError bank-response-invalid */
  add(account: Account): void {
    this.#noteCurrency(account.currency, 'currency');
    for (const { currency } of account.balances) this.#noteCurrency(currency, 'balances[].currency');
    this.#indexes.set(account.id, this.#count++);
    for (const [field, column] of this.#columns) column.push(COLUMNS[field](account));
    for (const [field, keys] of this.#sortKeys) keys.push(SORT_KEYS[field](account));
    let bytes = 0;
    for (const [field, texts] of this.#texts) {
      texts.push(TEXTS[field](account));
      bytes += texts.byteLength;
    }
    if (bytes > this.maxBytes) throw invalid(`The account list takes more than ${this.maxBytes} bytes of memory.`);
  }

  /** The snapshot as one buffer. Nothing can be added afterwards. */
  finish({ asOf, complete }: Pick<SnapshotHeader, 'asOf' | 'complete'>): ArrayBuffer {
    const ids = [...this.#indexes.keys()].sort();
    const order = Uint32Array.from(ids, (id) => this.#indexes.get(id) as number);
    const inOrder = (values: readonly (string | null)[]) =>
      Array.from(order, (index) => values[index] as string | null);
    const sections: Record<string, Section> = { digest: new Uint8Array(DIGEST_BYTES) };
    for (const [field, texts] of this.#texts) {
      const ordered = texts.inOrder(order);
      sections[`${field}Offsets`] = ordered.offsets;
      sections[`${field}Bytes`] = ordered;
    }
    for (const [field, column] of this.#columns) {
      const { codes, values } = toColumn(inOrder(column));
      sections[`${field}Codes`] = codes;
      sections[`${field}Values`] = values;
    }
    for (const [field, keys] of this.#sortKeys) sections[`${field}Ranks`] = toRanks(field, inOrder(keys));
    const buffer = pack({ accounts: ids.length, asOf, complete }, sections);
    const { digest, jsonBytes } = unpack(buffer).sections;
    digest.set(createHash('sha256').update(jsonBytes).digest());
    return buffer;
  }

  #noteCurrency(currency: string | null, path: string): void {
    if (currency === null) return;
    this.#currencies.add(currency);
    if (this.#currencies.size <= MAX_CURRENCIES) return;
    throw invalid(`In the account list, ${path} has more than ${MAX_CURRENCIES} different values.`);
  }
}

/** Pairs of each field and its own new value. */
const createForEach = <F, V>(fields: readonly F[], create: () => V) =>
  fields.map((field) => [field, create()] as const);

const invalid = (detail: string) => new GatewayError('bank-response-invalid', detail);
