import type { Account } from './account.js';
import type { SortField } from './sort-order.js';

/**
 * Version of the form of snapshots; an instance takes no stored copy of another version. Raise it with every change of the
 * header, of the sections, or of an account's JSON: a copy of the old form would be taken for one of the new.
 */
export const FORM_VERSION = 4;

/** Header of a snapshot. */
export interface SnapshotHeader {
  readonly accounts: number;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  readonly complete: boolean | null;
}

/** The filters that compare one value of an account, without letter case. Add a filter of this kind here. */
export const COLUMNS = {
  status: ({ status }) => status,
  currency: ({ currency }) => currency,
  ownerId: ({ owner }) => owner.id,
} satisfies Readonly<Record<string, (account: Account) => string | null>>;

export type ColumnField = keyof typeof COLUMNS;
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[];

/** The texts of each account: what is sent, and what is searched. */
export type TextField = 'json' | 'search' | 'numbers';

/**
 * Sections of a snapshot; `digest` is the SHA-256 of all JSON. Accounts are in the order of their ids; a position is an index in
 * that order.
 */
export type Sections = Readonly<
  Record<'digest' | `${TextField}Bytes` | `${ColumnField}Values`, Uint8Array> &
    Record<`${TextField}Offsets` | `${ColumnField}Codes` | `${SortField}Ranks`, Uint32Array>
>;

/** A section to be packed: its bytes, or a function that writes them into the target. */
export type Section = Uint8Array | Uint32Array | { readonly byteLength: number; copyTo(target: Uint8Array): void };

/** Each section by name. `wide`: true for numbers of four bytes. Offset and length are in bytes. */
interface Directory {
  readonly header: SnapshotHeader;
  readonly places: Readonly<Record<string, readonly [wide: boolean, offset: number, byteLength: number]>>;
}

const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT;

/** One buffer: the length of the directory, the directory as JSON, then the sections, each aligned to four bytes. */
export function pack(header: SnapshotHeader, sections: Readonly<Record<string, Section>>): ArrayBuffer {
  const places: Record<string, readonly [boolean, number, number]> = {};
  let end = 0;
  for (const [name, section] of Object.entries(sections)) {
    places[name] = [section instanceof Uint32Array, end, section.byteLength];
    end = aligned(end + section.byteLength);
  }
  const directory = Buffer.from(JSON.stringify({ header, places } satisfies Directory));
  const start = aligned(WORD_BYTES + directory.length);
  const buffer = new ArrayBuffer(start + end);
  new Uint32Array(buffer, 0, 1)[0] = directory.length;
  new Uint8Array(buffer).set(directory, WORD_BYTES);
  for (const [name, section] of Object.entries(sections)) {
    const target = new Uint8Array(buffer, start + (places[name]?.[1] ?? 0), section.byteLength);
    if ('copyTo' in section) section.copyTo(target);
    else target.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength));
  }
  return buffer;
}

/** The header and the sections of a packed buffer, without copying. */
export function unpack(buffer: ArrayBuffer): { header: SnapshotHeader; sections: Sections } {
  const [length = 0] = new Uint32Array(buffer, 0, 1);
  const { header, places } = JSON.parse(Buffer.from(buffer, WORD_BYTES, length).toString()) as Directory;
  const start = aligned(WORD_BYTES + length);
  const views = Object.entries(places).map(([name, [wide, offset, byteLength]]) => [
    name,
    wide
      ? new Uint32Array(buffer, start + offset, byteLength / WORD_BYTES)
      : new Uint8Array(buffer, start + offset, byteLength),
  ]);
  return { header, sections: Object.fromEntries(views) as Sections };
}

const aligned = (offset: number): number => Math.ceil(offset / WORD_BYTES) * WORD_BYTES;
