import { setImmediate as turn } from 'node:timers/promises';
import { TIMED_OUT, within } from '../time/deadline.js';

const TICK_MS = 25;

/**
 * How long Redis is waited for: several waits use up one budget. Time in which this process was held up itself counts as
 * one tick, or a burst of callers would look like a slow Redis.
 */
export class TimeBudget {
  constructor(public leftMs: number) {}

  /** Result of `work`, or TIMED_OUT when the budget is used up; `work` continues. */
  async within<T>(work: Promise<T>): Promise<T | typeof TIMED_OUT> {
    while (this.leftMs > 0) {
      const tickMs = Math.min(TICK_MS, this.leftMs);
      const began = performance.now();
      const result = await within(work, tickMs);
      this.leftMs -= result === TIMED_OUT ? tickMs : Math.min(tickMs, performance.now() - began);
      if (result !== TIMED_OUT) return result;
    }
    // the reply may be here, unread
    await turn();
    return within(work, 0);
  }
}
