import type { Clock, Instant } from '../time/clock.js';

/**
 * The time by Redis' clock, which all instances go by: one whose own clock is minutes off shows the same ages. From when
 * Redis was asked it is continued by both clocks of this machine, so that nothing looks younger than it is.
 */
export class RedisTime {
  /** @param ms reply of TIME, @param at before it was asked */
  constructor(
    private readonly ms: number,
    private readonly at: Instant,
    private readonly clock: Clock,
  ) {}

  /** Ms since 1970. */
  now(): number {
    return this.ms + this.clock.since(this.at);
  }

  /** Converts an instant of this process to Redis' clock. */
  of(instant: Instant): number {
    return this.now() - this.clock.since(instant);
  }

  /** Converts a time of Redis' clock to an instant of this process; the present instant if it is in the future. */
  toInstant(ms: number): Instant {
    const ageMs = Math.max(0, this.now() - ms);
    const { wall, monotonic } = this.clock.now();
    return { wall: wall - ageMs, monotonic: monotonic - ageMs };
  }
}
