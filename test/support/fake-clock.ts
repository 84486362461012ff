import { Clock, type Instant } from '../../src/time/clock.js';

/** A clock that stands still until it is moved; its two hands move together or apart. */
export class FakeClock extends Clock {
  #wall: number;
  #monotonic: number;

  constructor(wall = Date.UTC(2026, 10, 21, 8), monotonic = 5_000_000) {
    super();
    this.#wall = wall;
    this.#monotonic = monotonic;
  }

  now(): Instant {
    return { wall: this.#wall, monotonic: this.#monotonic };
  }

  /** Time goes by. */
  advance(ms: number): void {
    this.moveWall(ms);
    this.moveMonotonic(ms);
  }

  /** The wall clock alone is set, or the machine slept (the monotonic clock stands still then). */
  moveWall(ms: number): void {
    this.#wall += ms;
  }

  moveMonotonic(ms: number): void {
    this.#monotonic += ms;
  }
}
