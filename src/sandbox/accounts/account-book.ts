import { createAccount } from './create-account.js';
import { moveBalances } from './move-balances.js';

/** All accounts of one seed. Each is created on demand and kept as JSON text. */
export class AccountBook {
  readonly #seed: number;
  readonly #texts: string[] = [];

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * The JSON objects of one page (`number` from 1) of the first `count` accounts, comma-separated; "" past the end.
   * `second`: seconds since balances began to change, null while they do not.
   */
  page(number: number, size: number, count: number, second: number | null): string {
    const from = (number - 1) * size;
    const texts: string[] = [];
    for (let index = from; index < Math.min(from + size, count); index++) texts.push(this.#text(index, second));
    return texts.join(',');
  }

  #text(index: number, second: number | null): string {
    const text = (this.#texts[index] ??= JSON.stringify(createAccount(this.#seed, index)));
    return second === null ? text : moveBalances(text, this.#seed, index, second);
  }
}
