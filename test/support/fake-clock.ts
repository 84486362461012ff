import { MovedClock } from './moved-clock.js';

/** A clock that stands still until it is moved; its two hands move together or apart. */
export class FakeClock extends MovedClock {
  constructor(wall = Date.UTC(2026, 10, 21, 8), monotonic = 5_000_000) {
    super();
    this.stop({ wall, monotonic });
  }
}
