import { Clock, type Instant } from '../../src/time/clock.js';

/** Longer than any back-off, and than the default maximum age of a snapshot and life of a token. */
export const LONGEST_WAIT_MS = 361_000;

/** The system's clocks, running or stopped, which a test moves. */
export class MovedClock extends Clock {
  readonly #offsetMs = { wall: 0, monotonic: 0 };
  #stoppedAt: Instant | null = null;

  override now(): Instant {
    const { wall, monotonic } = this.#stoppedAt ?? { wall: Date.now(), monotonic: performance.now() };
    return { wall: wall + this.#offsetMs.wall, monotonic: monotonic + this.#offsetMs.monotonic };
  }

  /** Stops the clock. From now on, only the test moves it, however busy the machine is. */
  stop(at: Instant = { wall: Date.now(), monotonic: performance.now() }): void {
    this.#stoppedAt ??= at;
  }

  /** Moves both clocks. */
  advance(ms: number): void {
    this.moveWall(ms);
    this.moveMonotonic(ms);
  }

  /** Moves only the wall clock, as when it is set, or when the machine has slept. */
  moveWall(ms: number): void {
    this.#offsetMs.wall += ms;
  }

  /** Moves only the monotonic clock, as if the wall clock had been set back by the same amount. */
  moveMonotonic(ms: number): void {
    this.#offsetMs.monotonic += ms;
  }
}
