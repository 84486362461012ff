import { setTimeout as delay } from 'node:timers/promises';

/** Time limit of a wait, ms. It is long enough for any machine: it is not a measurement. */
export const WAIT_MS = 300_000;

/** Polls a condition until it is true. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = WAIT_MS): Promise<void> {
  const deadline = performance.now() + withinMs;
  // most conditions are met at once; one that takes seconds must not keep a core busy until then
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(2 * pauseMs, 100)) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${String(condition)}`);
    await delay(pauseMs);
  }
}
