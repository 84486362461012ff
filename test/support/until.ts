import { setTimeout as delay } from 'node:timers/promises';

/** When a wait in vain ends, ms: long enough for any machine, so that it measures nothing. */
export const WAIT_MS = 300_000;

/** Polls a condition until it is true. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = WAIT_MS): Promise<void> {
  const deadline = performance.now() + withinMs;
  // most conditions come true at once; one that takes seconds must not keep a core busy until then
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(2 * pauseMs, 100)) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${String(condition)}`);
    await delay(pauseMs);
  }
}
