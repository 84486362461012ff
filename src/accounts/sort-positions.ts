import type { Pause } from './pause.js';

/** Less than 0 when the account at position `a` comes before the one at `b`; never 0 for two different ones. */
export type Compare = (a: number, b: number) => number;

/** So many are sorted in one go, in well under a millisecond. */
const RUN = 512;
/** So many are merged between two looks at the time. */
const BETWEEN_LOOKS = 1024;

/** Sorts positions by merging, with pauses. What is in order already costs one comparison for each run. */
export async function sortPositions(positions: Uint32Array, compare: Compare, pause: Pause): Promise<Uint32Array> {
  let from = positions.slice();
  for (let start = 0; start < from.length; start += RUN) {
    const wait = pause();
    if (wait) await wait;
    from.subarray(start, start + RUN).sort(compare);
  }
  let to: Uint32Array = new Uint32Array(from.length);
  for (let width = RUN; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(start + 2 * width, from.length);
      await mergeRuns(from, to, { start, middle, end }, compare, pause);
    }
    [from, to] = [to as typeof from, from];
  }
  return from;
}

async function mergeRuns(
  from: Uint32Array,
  to: Uint32Array,
  { start, middle, end }: { start: number; middle: number; end: number },
  compare: Compare,
  pause: Pause,
): Promise<void> {
  if (middle === end || compare(at(from, middle - 1), at(from, middle)) < 0) {
    to.set(from.subarray(start, end), start);
    return;
  }
  let left = start;
  let right = middle;
  for (let next = start; next < end; next++) {
    if (next % BETWEEN_LOOKS === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    const takeLeft = right === end || (left < middle && compare(at(from, left), at(from, right)) < 0);
    to[next] = at(from, takeLeft ? left++ : right++);
  }
}

/** Two sorted lists as one; cheap when `few` is much shorter, since its places are found by halving. */
export async function mergePositions(
  many: Uint32Array,
  few: Uint32Array,
  compare: Compare,
  pause: Pause,
): Promise<Uint32Array> {
  const merged = new Uint32Array(many.length + few.length);
  let copied = 0;
  for (let index = 0; index < few.length; index++) {
    if (index % BETWEEN_LOOKS === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    const position = at(few, index);
    let low = copied;
    let high = many.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(at(many, middle), position) < 0) low = middle + 1;
      else high = middle;
    }
    merged.set(many.subarray(copied, low), copied + index);
    merged[low + index] = position;
    copied = low;
  }
  merged.set(many.subarray(copied), copied + few.length);
  return merged;
}

/** The element that is known to be there. */
export function at(positions: Uint32Array, index: number): number {
  return positions[index] as number;
}
