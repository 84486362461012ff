import type { Snapshot } from '../../snapshot/snapshot.js';
import type { Breather } from './breather.js';

/** An account in which two snapshots differ: its position in the older and in the newer one; null where it is not there. */
type Difference = readonly [before: number, after: number | null] | readonly [before: null, after: number];

/**
 * Compares account by account; both are held by the caller until it is done. What has other content comes first, then what
 * was added, then what was removed.
 */
export async function compareSnapshots(before: Snapshot, after: Snapshot, breather: Breather): Promise<Difference[]> {
  const changed: Difference[] = [];
  const added: Difference[] = [];
  const removed: Difference[] = [];
  let old = 0;
  let current = 0;
  while (old < before.size || current < after.size) {
    const order = compareAt(before, old, after, current);
    if (order === SAME || order === 0) {
      if (order === 0) changed.push([old, current]);
      old += 1;
      current += 1;
    } else if (order < 0) removed.push([old++, null]);
    else added.push([null, current++]);
    if (breather.isDue()) await breather.breathe();
  }
  return [...changed, ...added, ...removed];
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
