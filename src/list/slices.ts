import { setImmediate } from 'node:timers/promises';

/** Work that can pause at each `yield`. */
export type Sliced<T> = Generator<undefined, T>;

const SLICE_MS = 20;

/** Lets other calls run between slices. @throws the reason of `signal`, before the first slice and between slices */
export async function inSlices<T>(work: Sliced<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    // first: a call that was canceled while it waited is not begun
    await setImmediate();
    signal?.throwIfAborted();
    const end = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
  }
}
