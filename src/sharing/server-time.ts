import type { Clock, Instant } from '../time/clock.js';

/**
 * The time by Redis' clock, which all instances go by: one whose own clock is minutes off still tells the same ages. Between
 * two answers of Redis it goes on by both clocks of this machine, so that nothing looks younger than it is.
 */
export class ServerTime {
  readonly #ms: number;
  readonly #at: Instant;
  readonly #clock: Clock;

  /** @param ms what TIME said, @param at before it was asked */
  constructor(ms: number, at: Instant, clock: Clock) {
    this.#ms = ms;
    this.#at = at;
    this.#clock = clock;
  }

  /** Ms since 1970. */
  now(): number {
    return this.#ms + this.#clock.since(this.#at);
  }

  /** A moment of this process, by Redis' clock. */
  of(instant: Instant): number {
    return this.now() - this.#clock.since(instant);
  }

  /** A moment by Redis' clock, as one of this process. */
  toInstant(ms: number): Instant {
    const ageMs = Math.max(0, this.now() - ms);
    const { wall, monotonic } = this.#clock.now();
    return { wall: wall - ageMs, monotonic: monotonic - ageMs };
  }
}
