import { Counter, type Registry } from '@prometheus-io/client';

interface TallyOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
}

/** A counter of what happens in every request. The library looks labels up at each increment, so it gets the sums when it is read. */
export class Tally {
  readonly #sums = new Map<string, number>();
  readonly #labelNames: readonly string[];
  readonly #counter: Counter<string>;

  constructor(options: TallyOptions) {
    this.#labelNames = options.labelNames;
    this.#counter = new Counter<string>({ ...options, collect: () => this.#handOver() });
  }

  /** @param values of the labels in their order, with a space between them and none within */
  add(values: string, count = 1): void {
    this.#sums.set(values, (this.#sums.get(values) ?? 0) + count);
  }

  #handOver(): void {
    for (const [values, sum] of this.#sums) {
      const labels = values.split(' ').map((value, index) => [this.#labelNames[index], value]);
      this.#counter.inc(Object.fromEntries(labels), sum);
    }
    this.#sums.clear();
  }
}
