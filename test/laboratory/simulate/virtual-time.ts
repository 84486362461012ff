import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { Clock, type Instant } from '../../../src/time/clock.js';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * The injected clock and all timers of this process. Time jumps from one timer to the next, so that a month takes
 * seconds.
 */
export class VirtualTime extends Clock {
  readonly #startMs: number;
  readonly #timers: Timer[] = [];
  #monotonic = 0;
  #sleptMs = 0;
  /** Offset of the machine's wall clock, ms. */
  wallErrorMs = 0;

  constructor(startMs: number) {
    super();
    this.#startMs = startMs;
  }

  override now(): Instant {
    return { wall: this.trueMs + this.wallErrorMs, monotonic: this.#monotonic };
  }

  /** The bank's clock, ms since 1970. */
  get trueMs(): number {
    return this.#startMs + this.#monotonic + this.#sleptMs;
  }

  /** Suspends the machine: its monotonic clock and timers stop. */
  sleep(ms: number): void {
    this.#sleptMs += ms;
  }

  after(ms: number, run: () => void): Timer {
    const timer = { at: this.#monotonic + Math.max(0, ms), run };
    this.#timers.splice(this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1, 0, timer);
    return timer;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  async runUntil(trueMs: number): Promise<void> {
    for (;;) {
      // lets all pending promises settle; setImmediate is the real one
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#timers.shift();
      if (!next || this.trueMs >= trueMs) return;
      this.#monotonic = next.at;
      next.run();
    }
  }

  /** Replaces the timers of this process, which must not do anything else. */
  replaceTimers(): void {
    const after = (run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) =>
      this.after(ms, () => run(...values));
    // a cleared timer does nothing
    Object.assign(globalThis, { setTimeout: after, clearTimeout: () => undefined });
    AbortSignal.timeout = (ms: number) => {
      const end = new AbortController();
      this.after(ms, () => end.abort('timed out'));
      return end.signal;
    };
    Object.assign(timersPromises, { setTimeout: (ms: number) => this.wait(ms) });
    syncBuiltinESMExports();
  }
}
