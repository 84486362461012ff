import { Clock, type Instant } from '../../src/time/clock.js';

/** The system's clocks, or stopped ones, which a test moves forward: minutes pass at once. */
export class MovedClock extends Clock {
  readonly #offsetMs = { wall: 0, monotonic: 0 };
  #stoppedAt: Instant | null = null;

  override now(): Instant {
    const { wall, monotonic } = this.#stoppedAt ?? { wall: Date.now(), monotonic: performance.now() };
    return { wall: wall + this.#offsetMs.wall, monotonic: monotonic + this.#offsetMs.monotonic };
  }

  /** From now on only what a test says moves it, however long a busy machine takes. */
  stop(at: Instant = { wall: Date.now(), monotonic: performance.now() }): void {
    this.#stoppedAt ??= at;
  }

  /** Time passes, by both clocks. */
  advance(ms: number): void {
    this.moveWall(ms);
    this.moveMonotonic(ms);
  }

  /** The wall clock alone is set, or the machine slept (the monotonic clock stands still then). */
  moveWall(ms: number): void {
    this.#offsetMs.wall += ms;
  }

  /** The wall clock was set back while time went on: only the monotonic one shows it. */
  moveMonotonic(ms: number): void {
    this.#offsetMs.monotonic += ms;
  }
}
