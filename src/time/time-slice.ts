import { setImmediate } from 'node:timers/promises';

/** Length of a time slice on the serving thread, ms. */
export const SLICE_MS = 10;

let last: Promise<unknown> = Promise.resolve();

/**
 * Yields the thread, and resolves when the caller may keep it for another time slice. Between two slices, whoever takes them,
 * everything else has its turn: ten long answers at once delay a short one no more than one does.
 */
export function nextTimeSlice(): Promise<unknown> {
  last = last.then(() => setImmediate());
  return last;
}
