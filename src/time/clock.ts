/** One moment, by both clocks: `wall` in ms since 1970, `monotonic` in ms since some start. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

/** Time as an injected value, so that rules about time can be tested without waiting. */
export abstract class Clock {
  abstract now(): Instant;

  /**
   * Milliseconds since `then`: the greater of what the two clocks say. A wall clock set back or a machine that slept
   * (the monotonic clock stands still) can so make a thing look older, never younger (docs/bank.md#token-rules, docs/api.md#freshness).
   */
  since(then: Instant): number {
    const now = this.now();
    return Math.max(now.wall - then.wall, now.monotonic - then.monotonic);
  }
}

/** The clocks of the machine. */
export class SystemClock extends Clock {
  now(): Instant {
    return { wall: Date.now(), monotonic: performance.now() };
  }
}
