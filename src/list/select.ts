import { nextTimeSlice } from '../time/time-slice.js';
import { asWhole, foldNumber, foldText } from './fold-text.js';
import { COLUMN_FIELDS, type ColumnField } from './sections.js';
import type { Snapshot } from './snapshot.js';
import type { SortField } from './sort-order.js';
import type { Texts } from './text-pile.js';
import { codeOf } from './value-column.js';

/** Amount of text searched before yielding: a few milliseconds. */
const BYTES_PER_SLICE = 2 * 1024 * 1024;

/** Filters for accounts; all given filters must match, and none is empty once it is folded (docs/api.md#query). */
export type Filters = { readonly [K in ColumnField | 'iban' | 'q']?: string | undefined };

/** A sort order: `-name` is by name, descending. */
export type Sort = SortField | `-${SortField}`;

/** The accounts that match, as a one or a zero for each position; null when all do. */
export type Mask = Uint8Array | null;

export async function matchAccounts(snapshot: Snapshot, filters: Filters): Promise<Mask> {
  const masks: Uint8Array[] = [];
  const newMask = () => {
    const mask = new Uint8Array(snapshot.size);
    masks.push(mask);
    return mask;
  };
  for (const field of COLUMN_FIELDS) {
    const wanted = filters[field];
    if (wanted === undefined) continue;
    const column = snapshot.column(field);
    const code = codeOf(column, wanted) || -1;
    const mask = newMask();
    for (let position = 0; position < mask.length; position++) mask[position] = column.codes[position] === code ? 1 : 0;
  }
  if (filters.iban !== undefined) {
    await markMatches(snapshot.texts('numbers'), asWhole(foldNumber(filters.iban)), newMask());
  }
  if (filters.q !== undefined) {
    const mask = newMask();
    await markMatches(snapshot.texts('search'), foldText(filters.q), mask);
    await markMatches(snapshot.texts('numbers'), foldNumber(filters.q), mask);
  }
  const [combined = null, ...others] = masks;
  for (const mask of others) {
    for (let position = 0; position < mask.length; position++) combined![position]! &= mask[position]!;
  }
  return combined;
}

/** End position of one search slice. */
function endOfSlice(offsets: Uint32Array, start: number): number {
  const endByte = (offsets[start] as number) + BYTES_PER_SLICE;
  let end = start + 1;
  while (end < offsets.length - 1 && (offsets[end + 1] as number) <= endByte) end += 1;
  return end;
}

/** Marks every account whose text contains `needle`. Long texts are searched in slices. */
async function markMatches({ bytes, offsets }: Texts, needle: string, mask: Uint8Array): Promise<void> {
  const wanted = Buffer.from(needle);
  for (let position = 0, next = 0; position < mask.length; position = next) {
    next = endOfSlice(offsets, position);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, offsets[next]);
    let found = text.indexOf(wanted, offsets[position]);
    for (; found !== -1; found = text.indexOf(wanted, offsets[position])) {
      while ((offsets[position + 1] as number) <= found) position += 1;
      mask[position] = 1;
      position += 1;
    }
    if (next < mask.length) await nextTimeSlice();
  }
}

/** The positions of the accounts that match, in the order of `sort`. */
export async function select(snapshot: Snapshot, filters: Filters, sort: Sort): Promise<Uint32Array> {
  const mask = await matchAccounts(snapshot, filters);
  const order = snapshot.order(sort.replace(/^-/, '') as SortField, sort.startsWith('-'));
  return mask === null ? order : order.filter((position) => mask[position] === 1);
}
