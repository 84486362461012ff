/** One moment, by both clocks: `wall` in ms since 1970, `monotonic` in ms since some start. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

/** The instant `ms` after `from`. */
export const later = (from: Instant, ms: number): Instant => ({ wall: from.wall + ms, monotonic: from.monotonic + ms });

/** The machine's clocks, injected so that rules about time can be tested without waiting. */
export class Clock {
  now(): Instant {
    return { wall: Date.now(), monotonic: performance.now() };
  }

  /**
   * Milliseconds since `then`: the greater of the two differences. So a wall clock that was set back, or a sleep of the
   * machine, in which the monotonic clock stops, does not make something look younger.
   */
  since(then: Instant): number {
    const now = this.now();
    return Math.max(now.wall - then.wall, now.monotonic - then.monotonic);
  }

  /** True once either clock has reached `then`. */
  hasReached(then: Instant): boolean {
    return this.since(then) >= 0;
  }
}
