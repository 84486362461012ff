import type { Instant } from '../time/clock.js';
import type { Account } from './account.js';
import type { AmountColumn } from './amount-column.js';
import { asBuffer, findSorted, type Texts } from './bytes.js';
import { unpack } from './layout.js';
import { SECTIONS, type AmountField, type ColumnField, type SnapshotHeader } from './sections.js';
import type { SortField } from './sort-order.js';
import type { ValueColumn } from './value-column.js';

type Sections = ReturnType<typeof unpack<SnapshotHeader, typeof SECTIONS>>['sections'];

/** When a reading was made, by the clocks of this process. */
interface SnapshotTimes {
  /** Before the bank was asked. */
  readonly askedAt: Instant;
  /** How long the reading took where it was made, ms. */
  readonly durationMs: number;
}

/**
 * One complete reading of the bank's accounts: a single buffer, made in a worker, never changed. It holds the finished
 * JSON of each account, and what filters, sorts and totals look at (docs/decisions/0005-a-snapshot-of-bytes.md).
 */
export class Snapshot {
  readonly askedAt: Instant;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  readonly durationMs: number;
  readonly complete: boolean | null;
  /** How many accounts there are. */
  readonly size: number;
  /** Stands for the content of all accounts; the same wherever it was read. */
  readonly digest: string;
  /** The whole value: what can be stored, and made a snapshot of again. */
  readonly buffer: ArrayBuffer;
  readonly #json: Buffer;
  readonly #sections: Sections;

  /** @throws LayoutUnreadable when the buffer is no snapshot of this version */
  constructor(buffer: ArrayBuffer, { askedAt, durationMs }: SnapshotTimes) {
    const { header, sections } = unpack<SnapshotHeader, typeof SECTIONS>(buffer, SECTIONS);
    this.buffer = buffer;
    this.askedAt = askedAt;
    this.durationMs = durationMs;
    this.asOf = header.asOf;
    this.complete = header.complete;
    this.size = header.accounts;
    this.digest = asBuffer(sections.digest).toString('base64url');
    this.#sections = sections;
    this.#json = asBuffer(sections.json);
  }

  /** The JSON of the account at a position, without copying. */
  json(position: number): Buffer {
    const { jsonOffsets } = this.#sections;
    return this.#json.subarray(jsonOffsets[position], jsonOffsets[position + 1]);
  }

  account(position: number): Account {
    return JSON.parse(this.json(position).toString('utf8')) as Account;
  }

  /** Where the account with this id stands; -1 when there is none. */
  positionOf(id: string): number {
    const wanted = Buffer.from(`{"id":${JSON.stringify(id)}`);
    // the closing quotation mark is compared too, so that a shorter id comes before a longer one
    return findSorted(this.size, (position) => wanted.compare(this.json(position), 0, wanted.length));
  }

  /** All positions in an order; nulls last, ties by id. */
  order(field: SortField, descending: boolean): Uint32Array {
    return descending ? this.#sections[`${field}Descending`] : this.#sections[`${field}Ascending`];
  }

  column(field: ColumnField): ValueColumn {
    const sections = this.#sections;
    return {
      codes: sections[`${field}Codes`],
      values: { bytes: sections[`${field}Values`], offsets: sections[`${field}ValueOffsets`] },
    };
  }

  /** Per account the folded text that is searched: of names and owners, or of IBANs and identifiers. */
  texts(which: 'search' | 'numbers'): Texts {
    return { bytes: this.#sections[which], offsets: this.#sections[`${which}Offsets`] };
  }

  /** Every CurrentBalance, by position. */
  get entries() {
    const sections = this.#sections;
    return {
      positions: sections.entryPositions,
      currency: {
        codes: sections.entryCurrencyCodes,
        values: { bytes: sections.entryCurrencyValues, offsets: sections.entryCurrencyValueOffsets },
      } satisfies ValueColumn,
      /** 0 for none, else one more than a place in `dates`. */
      dateCodes: sections.entryDates,
      dates: { bytes: sections.dates, offsets: sections.dateOffsets } satisfies Texts,
      dateRanks: sections.dateRanks,
    };
  }

  amounts(field: AmountField): AmountColumn {
    const sections = this.#sections;
    return {
      units: sections[`${field}Units`],
      places: sections[`${field}Places`],
      long: { bytes: sections[`${field}Long`], offsets: sections[`${field}LongOffsets`] },
    };
  }
}
