import { Clock, type Instant } from '../../src/clock.js';

/** The system's clocks, moved on by a test: what takes minutes for others has passed at once. */
export class MovedClock extends Clock {
  #wallOffsetMs = 0;
  #monotonicOffsetMs = 0;

  now(): Instant {
    return { wall: Date.now() + this.#wallOffsetMs, monotonic: performance.now() + this.#monotonicOffsetMs };
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

  /** The wall clock was set back while time went on: only the monotonic one tells. */
  advanceMonotonic(ms: number): void {
    this.#monotonicOffsetMs += ms;
  }
}
