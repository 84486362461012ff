import type { Snapshot } from '../../snapshot/snapshot.js';
import type { Breather } from './breather.js';

/** In which accounts two snapshots differ, by position. */
export interface Differences {
  /** In both, with other content: position in the older one, position in the newer one. */
  readonly changed: readonly (readonly [before: number, after: number])[];
  /** In the newer one only. */
  readonly added: readonly number[];
  /** In the older one only. */
  readonly removed: readonly number[];
}

/** Compares account by account; both are held by the caller until it is done. */
export async function compareSnapshots(before: Snapshot, after: Snapshot, breather: Breather): Promise<Differences> {
  const changed: (readonly [number, number])[] = [];
  const added: number[] = [];
  const removed: number[] = [];
  let old = 0;
  let current = 0;
  while (old < before.size || current < after.size) {
    const order = compareAt(before, old, after, current);
    if (order === SAME || order === 0) {
      if (order === 0) changed.push([old, current]);
      old += 1;
      current += 1;
    } else if (order < 0) removed.push(old++);
    else added.push(current++);
    if (breather.isDue()) await breather.breathe();
  }
  return { changed, added, removed };
}

/** The same account with the same content. */
const SAME = null;

/** By id: less than 0 when that of `before` comes first, 0 when they are one account with other content. */
function compareAt(before: Snapshot, old: number, after: Snapshot, current: number): number | null {
  if (old >= before.size) return 1;
  if (current >= after.size) return -1;
  if (after.isSame(current, before, old)) return SAME;
  return before.idJson(old).compare(after.idJson(current));
}
