import type { Clock, Instant } from './clock.js';

/** Measures the time, ms, during which at least one of several tasks is under way. */
export class Stopwatch {
  #underWay = 0;
  #doneMs = 0;
  #since: Instant;

  constructor(private readonly clock: Clock) {
    this.#since = clock.now();
  }

  get ms(): number {
    return this.#doneMs + (this.#underWay > 0 ? this.clock.since(this.#since) : 0);
  }

  /** The result of the task. Its duration counts. */
  async time<T>(task: Promise<T>): Promise<T> {
    if (this.#underWay === 0) this.#since = this.clock.now();
    this.#underWay += 1;
    try {
      return await task;
    } finally {
      if (this.#underWay === 1) this.#doneMs = this.ms;
      this.#underWay -= 1;
    }
  }
}
