/** From the fastest answer out of memory to a minute, each class 8 % wider than the one before. */
const FIRST_MS = 0.05;
const GROWTH = 1.08;
const CLASSES = 183;
const LOG_GROWTH = Math.log(GROWTH);

/** Durations in classes of 8 %, so that quantiles of any number of them cost the same. */
export class Latencies {
  readonly #counts = new Uint32Array(CLASSES);
  #total = 0;

  /** @param ms milliseconds */
  add(ms: number): void {
    const index = ms <= FIRST_MS ? 0 : Math.min(CLASSES - 1, Math.ceil(Math.log(ms / FIRST_MS) / LOG_GROWTH));
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total += 1;
  }

  /** What `share` of them took at most, ms, 8 % too much at most; null when there were none. */
  quantile(share: number): number | null {
    if (this.#total === 0) return null;
    const rank = Math.max(1, Math.ceil(share * this.#total));
    let seen = 0;
    const index = this.#counts.findIndex((count) => (seen += count) >= rank);
    return Math.round(FIRST_MS * GROWTH ** index * 100) / 100;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}
