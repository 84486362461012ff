import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a condition, looking often; fails when it does not come true in time. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 5000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${String(condition)}`);
    await delay(10);
  }
}
