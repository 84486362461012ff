import { COLUMN_FIELDS } from './facets.js';
import { foldText } from './fold-text.js';
import type { Filters, Sort } from './list-query.js';
import type { Order } from './order.js';
import type { Snapshot } from './snapshot.js';
import { asWhole, foldIban, markMatches } from './text-blocks.js';
import { foldValue } from './value-column.js';

/** The positions of the accounts that match, as a mask of ones and zeros; null when all do. */
export async function matchAccounts(snapshot: Snapshot, filters: Filters): Promise<Uint8Array | null> {
  const { accounts, facets } = snapshot;
  let mask: Uint8Array | null = null;
  const narrow = (other: Uint8Array) => {
    if (mask === null) mask = other;
    else for (let position = 0; position < mask.length; position++) mask[position]! &= other[position]!;
  };
  for (const field of COLUMN_FIELDS) {
    const wanted = filters[field];
    if (wanted === undefined) continue;
    const { codes, codeOf } = await facets.columns[field].get();
    const code = codeOf.get(foldValue(wanted)) ?? -1;
    const other = new Uint8Array(accounts.length);
    for (let position = 0; position < codes.length; position++) other[position] = codes[position] === code ? 1 : 0;
    narrow(other);
  }
  if (filters.iban !== undefined) {
    const other = new Uint8Array(accounts.length);
    markMatches(await facets.ibanTexts.get(), asWhole(foldIban(filters.iban)), other);
    narrow(other);
  }
  if (filters.q !== undefined) {
    const other = new Uint8Array(accounts.length);
    markMatches(await facets.searchTexts.get(), foldText(filters.q), other);
    narrow(other);
  }
  return mask;
}

/** The accounts that match, in their order. */
export class Selection {
  readonly #order: Uint32Array;
  readonly #mask: Uint8Array | null;
  readonly total: number;

  constructor(order: Uint32Array, mask: Uint8Array | null) {
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

export async function select(snapshot: Snapshot, filters: Filters, sort: Sort): Promise<Selection> {
  const order: Order = await snapshot.facets.orders[sort.field].get();
  const mask = await matchAccounts(snapshot, filters);
  return new Selection(sort.descending ? order.descending : order.ascending, mask);
}
