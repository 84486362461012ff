import { setImmediate as turn } from 'node:timers/promises';
import { TIMED_OUT, within } from '../time/deadline.js';

const TICK_MS = 25;

/**
 * How long is waited for Redis, in all: several waits use up one budget. Time in which this process was held up itself
 * counts for one tick only, or a burst of callers would look like a slow Redis.
 */
export class TimeBudget {
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** What `work` gives, or TIMED_OUT when there is no budget left; `work` goes on. */
  async within<T>(work: Promise<T>): Promise<T | typeof TIMED_OUT> {
    while (this.#leftMs > 0) {
      const tickMs = Math.min(TICK_MS, this.#leftMs);
      const began = performance.now();
      const found = await within(work, tickMs);
      this.#leftMs -= found === TIMED_OUT ? tickMs : Math.min(tickMs, performance.now() - began);
      if (found !== TIMED_OUT) return found;
    }
    // the answer may be here already, unread
    await turn();
    return within(work, 0);
  }
}
