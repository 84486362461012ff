import { setImmediate } from 'node:timers/promises';

/** Work that can pause at each `yield`. */
export type Sliced<T> = Generator<undefined, T>;

/** Maximum time for one query before others get a slice. */
const SLICE_MS = 20;

/**
 * Runs work in slices of 20 ms, and lets other calls run in between.
 * @throws the reason of `signal`, at the end of a slice
 */
export async function inSlices<T>(work: Sliced<T>, signal?: AbortSignal): Promise<T> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() < end) continue;
    await setImmediate();
    signal?.throwIfAborted();
    end = performance.now() + SLICE_MS;
  }
}
