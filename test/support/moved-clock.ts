import { Clock, type Instant } from '../../src/time/clock.js';

/** The system's clocks, moved on by a test: what takes minutes for others has passed at once. */
export class MovedClock extends Clock {
  #wallOffsetMs = 0;
  #monotonicOffsetMs = 0;
  #stoppedAt: Instant | null = null;

  now(): Instant {
    const { wall, monotonic } = this.#stoppedAt ?? { wall: Date.now(), monotonic: performance.now() };
    return { wall: wall + this.#wallOffsetMs, monotonic: monotonic + this.#monotonicOffsetMs };
  }

  /** From now on only what a test says moves it, however long a busy machine takes. */
  stop(): void {
    this.#stoppedAt ??= { wall: Date.now(), monotonic: performance.now() };
  }

  /** Time passes, by both clocks. */
  advance(ms: number): void {
    this.#wallOffsetMs += ms;
    this.#monotonicOffsetMs += ms;
  }

  /** Somebody sets the wall clock. */
  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** The wall clock was set back while time went on: only the monotonic one shows it. */
  advanceMonotonic(ms: number): void {
    this.#monotonicOffsetMs += ms;
  }
}
