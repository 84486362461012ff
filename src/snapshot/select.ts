import { asBuffer, textAt, type Texts } from './bytes.js';
import { asWhole, foldNumber, foldText, foldValue } from './fold-text.js';
import { COLUMN_FIELDS, type ColumnField } from './sections.js';
import type { Snapshot } from './snapshot.js';
import type { SortField } from './sort-order.js';
import { codeOf } from './value-column.js';

/** Which accounts are wanted; all that is given must match (docs/api.md#query). */
export type Filters = { readonly [K in ColumnField | 'iban' | 'q']?: string | undefined };

/** In which order accounts are wanted. */
export interface Sort {
  readonly field: SortField;
  readonly descending: boolean;
}

/** The accounts that match, as a one or a zero for each position; null when all do. */
export type Mask = Uint8Array | null;

export function matchAccounts(snapshot: Snapshot, filters: Filters): Mask {
  let mask: Mask = null;
  const narrow = (other: Uint8Array) => {
    if (mask === null) mask = other;
    else for (let position = 0; position < mask.length; position++) mask[position]! &= other[position]!;
  };
  for (const field of COLUMN_FIELDS) {
    const wanted = filters[field];
    if (wanted === undefined) continue;
    const column = snapshot.column(field);
    const code = codeOf(column, foldValue(wanted));
    const other = new Uint8Array(snapshot.size);
    for (let position = 0; position < other.length; position++)
      other[position] = column.codes[position] === code ? 1 : 0;
    narrow(other);
  }
  if (filters.iban !== undefined) {
    const other = new Uint8Array(snapshot.size);
    markMatches(snapshot.texts('numbers'), asWhole(foldNumber(filters.iban)), other);
    narrow(other);
  }
  if (filters.q !== undefined) {
    const other = new Uint8Array(snapshot.size);
    markMatches(snapshot.texts('search'), foldText(filters.q), other);
    const number = foldNumber(filters.q);
    if (number !== '') markMatches(snapshot.texts('numbers'), number, other);
    narrow(other);
  }
  return mask;
}

/** Marks every account in whose text `needle` stands. */
function markMatches({ bytes, offsets }: Texts, needle: string, mask: Uint8Array): void {
  // every text holds it; a caller is refused before (docs/api.md#query)
  if (needle === '') throw new RangeError('nothing to search for');
  const text = asBuffer(bytes);
  const wanted = Buffer.from(needle);
  let position = 0;
  let found = text.indexOf(wanted);
  while (found !== -1) {
    while ((offsets[position + 1] as number) <= found) position += 1;
    mask[position] = 1;
    found = text.indexOf(wanted, offsets[position + 1]);
  }
}

/** What filters look at in one account, kept after its snapshot is gone. */
export type FilteredTexts = Readonly<Record<ColumnField, string | null> & Record<'search' | 'numbers', string>>;

export function filteredTexts(snapshot: Snapshot, position: number): FilteredTexts {
  const ofColumns = COLUMN_FIELDS.map((field) => {
    const { codes, values } = snapshot.column(field);
    const code = codes[position] as number;
    return [field, code === 0 ? null : textAt(values, code - 1)];
  });
  return {
    ...(Object.fromEntries(ofColumns) as Record<ColumnField, string | null>),
    search: textAt(snapshot.texts('search'), position),
    numbers: textAt(snapshot.texts('numbers'), position),
  };
}

/** The same choice as `matchAccounts`, for accounts one at a time. */
export function createMatcher(filters: Filters): (account: FilteredTexts) => boolean {
  const columns = COLUMN_FIELDS.flatMap((field) => {
    const wanted = filters[field];
    return wanted === undefined ? [] : [[field, foldValue(wanted)] as const];
  });
  const iban = filters.iban === undefined ? null : asWhole(foldNumber(filters.iban));
  const text = filters.q === undefined ? null : foldText(filters.q);
  const number = foldNumber(filters.q ?? '');
  return (account) =>
    columns.every(([field, wanted]) => account[field] === wanted) &&
    (iban === null || account.numbers.includes(iban)) &&
    (text === null || account.search.includes(text) || (number !== '' && account.numbers.includes(number)));
}

/** The accounts that match, in their order. */
class Selection {
  readonly #order: Uint32Array;
  readonly #mask: Mask;
  readonly total: number;

  constructor(order: Uint32Array, mask: Mask) {
    this.#order = order;
    this.#mask = mask;
    this.total = mask === null ? order.length : mask.reduce((sum, one) => sum + one, 0);
  }

  /** Positions of at most `size` of them, after leaving out the first `start`. */
  slice(start: number, size: number): Uint32Array {
    if (this.#mask === null) return this.#order.subarray(start, start + size);
    const found = new Uint32Array(Math.max(0, Math.min(size, this.total - start)));
    let skipped = 0;
    let count = 0;
    for (let index = 0; count < found.length; index++) {
      const position = this.#order[index] as number;
      if (this.#mask[position] === 0) continue;
      if (skipped < start) skipped += 1;
      else found[count++] = position;
    }
    return found;
  }
}

/** The accounts that match, in the order of `sort`. */
export function select(snapshot: Snapshot, filters: Filters, { field, descending }: Sort): Selection {
  return new Selection(snapshot.order(field, descending), matchAccounts(snapshot, filters));
}
