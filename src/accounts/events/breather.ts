import { setImmediate } from 'node:timers/promises';

/** So long the serving thread may be kept at a stretch, ms. */
const SLICE_MS = 5;
/** Looking at the clock costs more than most steps do. */
const STEPS_PER_LOOK = 64;

/** For long work in small steps on the serving thread: others have their turn every few milliseconds. */
export class Breather {
  #since = performance.now();
  #steps = 0;

  /** Whether it is time to `breathe`; to be asked after each step. @param heavy a step that may last a millisecond */
  isDue(heavy = false): boolean {
    this.#steps += 1;
    return (heavy || this.#steps % STEPS_PER_LOOK === 0) && performance.now() - this.#since > SLICE_MS;
  }

  async breathe(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
