/** Gives something to await when it is time to let others have their turn, else undefined. */
export type Pause = () => Promise<void> | undefined;

/** How long one piece of long work keeps the event loop, ms. */
const SLICE_MS = 4;

/** For long work: `const wait = pause(); if (wait) await wait;` lets the event loop go on every few milliseconds. */
export function createPause(sliceMs = SLICE_MS): Pause {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
