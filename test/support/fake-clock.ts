import { MovedClock } from './moved-clock.js';

/** A clock that stands still until a test moves it: both of its clocks, or one. */
export class FakeClock extends MovedClock {
  constructor(wall = Date.UTC(2026, 10, 21, 8), monotonic = 5_000_000) {
    super();
    this.stop({ wall, monotonic });
  }
}
