import type { Instant } from '../time/clock.js';
import type { Account, Balance } from './account.js';
import { unpack, type ColumnField, type Sections, type TextField } from './sections.js';
import { compareTexts, toOrder, type SortField } from './sort-order.js';
import type { Texts } from './text-pile.js';
import type { ValueColumn } from './value-column.js';

const ID_START = '{"id":'.length;
/** From the quote that ends the id: within a text there is none without a backslash before it. */
const NAME_KEY = '","name":';
/** The JSON around the balances; no text contains it, for the same reason. */
const BALANCES_KEY = ',"balances":';
const AFTER_BALANCES_KEY = ',"interest":{';

/**
 * The bank's accounts after one refresh: a single buffer, built in a worker, never changed. It has the finished JSON of each
 * account, and what filters and sorts look at (docs/decisions/0005-a-snapshot-of-bytes.md).
 */
export class Snapshot {
  /** The time before the first call to the bank, by the clocks of this process. */
  readonly askedAt: Instant;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  /** Duration of the refresh, in the instance that made it. */
  readonly durationMs: number;
  readonly complete: boolean | null;
  /** The number of accounts. */
  readonly size: number;
  /** Digest of the accounts: equal accounts have equal digests, whichever refresh they came from. */
  readonly digest: string;
  /** The whole snapshot as bytes, which can be stored and passed to the constructor. */
  readonly buffer: ArrayBuffer;
  readonly #json: Buffer;
  readonly #sections: Sections;

  constructor(buffer: ArrayBuffer, { askedAt, durationMs }: Pick<Snapshot, 'askedAt' | 'durationMs'>) {
    const { header, sections } = unpack(buffer);
    this.buffer = buffer;
    this.askedAt = askedAt;
    this.durationMs = durationMs;
    this.asOf = header.asOf;
    this.complete = header.complete;
    this.size = header.accounts;
    this.digest = Buffer.from(sections.digest).toString('base64url');
    this.#sections = sections;
    const { byteOffset, byteLength } = sections.jsonBytes;
    this.#json = Buffer.from(buffer, byteOffset, byteLength);
  }

  /** The JSON of the account at a position, without copying. */
  json(position: number): Buffer {
    const { jsonOffsets } = this.#sections;
    return this.#json.subarray(jsonOffsets[position], jsonOffsets[position + 1]);
  }

  account(position: number): Account {
    return JSON.parse(this.json(position).toString('utf8')) as Account;
  }

  /** The balances of the account at a position, without parsing the rest. */
  balances(position: number): Balance[] {
    const json = this.json(position);
    const start = json.indexOf(BALANCES_KEY) + BALANCES_KEY.length;
    return JSON.parse(json.toString('utf8', start, json.indexOf(AFTER_BALANCES_KEY, start))) as Balance[];
  }

  /** The position of the account with this id; -1 for none. */
  positionOf(id: string): number {
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = compareTexts(id, this.#id(middle));
      if (order === 0) return middle;
      if (order < 0) high = middle - 1;
      else low = middle + 1;
    }
    return -1;
  }

  /** Without parsing the rest: an account may have 14 MB. Its JSON begins with id and name. */
  #id(position: number): string {
    const json = this.json(position);
    return JSON.parse(json.toString('utf8', ID_START, json.indexOf(NAME_KEY) + 1)) as string;
  }

  /** All positions in a sort order; nulls last, ties by id. */
  order(field: SortField, descending: boolean): Uint32Array {
    return toOrder(this.#sections[`${field}Ranks`], descending);
  }

  column(field: ColumnField): ValueColumn {
    return { codes: this.#sections[`${field}Codes`], values: this.#sections[`${field}Values`] };
  }

  /** The folded text of each account that is searched: names and owners, or IBANs and identifiers. */
  texts(which: Exclude<TextField, 'json'>): Texts {
    return { bytes: this.#sections[`${which}Bytes`], offsets: this.#sections[`${which}Offsets`] };
  }
}
