import { Big } from 'big.js';
import { decimalPlaces, toDecimal } from './decimal.js';

/** Adds decimals exactly; the sum keeps the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export class ExactSum {
  #sum = new Big(0);
  #places = 0;

  add(decimal: string): void {
    this.#sum = this.#sum.plus(decimal);
    this.#places = Math.max(this.#places, decimalPlaces(decimal));
  }

  toString(): string {
    return toDecimal(this.#sum, this.#places);
  }
}
