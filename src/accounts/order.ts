import type { Account } from './account.js';
import type { Carried } from './carried.js';
import type { Pause } from './pause.js';
import { at, mergePositions, sortPositions } from './sort-positions.js';
import { SORT_KEYS, type SortField } from './sort-keys.js';

/** Every account's position, in one order and its reverse; nulls last in both, ties by id (contract §3). */
export interface Order {
  readonly ascending: Uint32Array;
  readonly descending: Uint32Array;
}

/** From the same order of the reading before, only what has changed is sorted anew. `accounts` are in the order of ids. */
export async function buildOrder(
  field: SortField,
  accounts: readonly Account[],
  before: Carried<Order> | null,
  pause: Pause,
): Promise<Order> {
  const { isNull, compare } = await SORT_KEYS[field].prepare(accounts, pause);
  const byKeyAndId = (a: number, b: number) => compare(a, b) || a - b;
  const settled = new Uint8Array(accounts.length);
  const kept = before ? keepSettled(field, accounts, before, settled, isNull) : new Uint32Array();
  const loose = new Uint32Array(accounts.length);
  const nulls = new Uint32Array(accounts.length);
  let looseCount = 0;
  let nullCount = 0;
  for (let position = 0; position < accounts.length; position++) {
    if (isNull(position)) nulls[nullCount++] = position;
    else if (settled[position] === 0) loose[looseCount++] = position;
  }
  const sortedLoose = await sortPositions(loose.subarray(0, looseCount), byKeyAndId, pause);
  const sorted = kept.length === 0 ? sortedLoose : await mergePositions(kept, sortedLoose, byKeyAndId, pause);

  const ascending = new Uint32Array(accounts.length);
  ascending.set(sorted);
  ascending.set(nulls.subarray(0, nullCount), sorted.length);
  return { ascending, descending: await reverse(ascending, sorted.length, compare, pause) };
}

/** The accounts whose key has not changed, in their order. */
function keepSettled(
  field: SortField,
  accounts: readonly Account[],
  { value: order, accounts: old, moved }: Carried<Order>,
  settled: Uint8Array,
  isNull: (position: number) => boolean,
): Uint32Array {
  const { same } = SORT_KEYS[field];
  const kept = new Uint32Array(order.ascending.length);
  let count = 0;
  for (const was of order.ascending) {
    const is = moved[was] as number;
    if (is === -1 || isNull(is)) continue;
    if (!same(old[was] as Account, accounts[is] as Account)) continue;
    kept[count++] = is;
    settled[is] = 1;
  }
  return kept.subarray(0, count);
}

/** Groups of equals change places, but not those within a group, nor the nulls after `count`. */
async function reverse(
  ascending: Uint32Array,
  count: number,
  compare: (a: number, b: number) => number,
  pause: Pause,
): Promise<Uint32Array> {
  const descending = ascending.slice();
  let end = count;
  let next = 0;
  for (let start = count - 1; start >= 0; start--) {
    if (start % 1024 === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    if (start > 0 && compare(at(ascending, start - 1), at(ascending, start)) === 0) continue;
    descending.set(ascending.subarray(start, end), next);
    next += end - start;
    end = start;
  }
  return descending;
}
