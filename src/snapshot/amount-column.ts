import { textAt, toTexts, type Texts } from './bytes.js';
import { compareDecimals, decimalPlaces, fromUnits, toUnits } from './decimal.js';

/** A double holds any whole number of so many digits exactly. */
const EXACT_DIGITS = 15;
/** A sum beyond this could lose digits with the next term. */
const EXACT_SUM = Number.MAX_SAFE_INTEGER - 10 ** EXACT_DIGITS;
/** Marks in `places`. */
const NULL = 0xffff;
const LONG = 0xfffe;

/**
 * Decimals as whole numbers and decimal places, so that many are added quickly and exactly: 19435.50 is 1943550 and 2.
 * Those with more than 15 digits are in `long`; `units` then has the index there.
 */
export interface AmountColumn {
  readonly units: Float64Array;
  readonly places: Uint16Array;
  readonly long: Texts;
}

export class AmountColumnBuilder {
  readonly #units: number[] = [];
  readonly #places: number[] = [];
  readonly #long: string[] = [];

  push(amount: string | null): void {
    const places = amount === null ? NULL : amount.length > EXACT_DIGITS ? LONG : decimalPlaces(amount);
    this.#places.push(places);
    if (amount === null) this.#units.push(0);
    else this.#units.push(places === LONG ? this.#long.push(amount) - 1 : Number(amount.replace('.', '')));
  }

  /** The amounts at some indexes, in the order given. */
  take(indexes: Uint32Array): AmountColumn {
    return {
      units: Float64Array.from(indexes, (index) => this.#units[index] as number),
      places: Uint16Array.from(indexes, (index) => this.#places[index] as number),
      long: toTexts(this.#long),
    };
  }
}

export const isNull = ({ places }: AmountColumn, index: number): boolean => places[index] === NULL;

/** Orders two amounts of a column exactly: less than 0 when the one at `a` is less. */
export function compareAmounts(column: AmountColumn, a: number, b: number): number {
  const { units, places } = column;
  if (places[a] === places[b] && places[a] !== LONG) return (units[a] as number) - (units[b] as number);
  return compareDecimals(amountAt(column, a), amountAt(column, b));
}

/** The amount at this index, which is not null. */
function amountAt({ units, places, long }: AmountColumn, index: number): string {
  const value = units[index] as number;
  return places[index] === LONG ? textAt(long, value) : fromUnits(BigInt(value), places[index] as number);
}

/** Adds amounts of a column exactly; the sum keeps the most decimal places of its terms: 1.10 + 0.1 = 1.20. */
export class ExactSum {
  readonly #column: AmountColumn;
  /** By decimal places: the sum so far, and what has yet to be added to it. */
  readonly #sums: { total: bigint; pending: number }[] = [];

  constructor(column: AmountColumn) {
    this.#column = column;
  }

  /** @param index of an amount that is not null */
  add(index: number): void {
    const { units, places, long } = this.#column;
    const value = units[index] as number;
    const scale = places[index] as number;
    if (scale === LONG) {
      const text = textAt(long, value);
      this.#at(decimalPlaces(text)).total += toUnits(text, decimalPlaces(text));
      return;
    }
    const sum = this.#at(scale);
    sum.pending += value;
    if (Math.abs(sum.pending) < EXACT_SUM) return;
    sum.total += BigInt(sum.pending);
    sum.pending = 0;
  }

  toString(): string {
    const most = Math.max(0, this.#sums.length - 1);
    let total = 0n;
    this.#sums.forEach((sum, places) => {
      total += (sum.total + BigInt(sum.pending)) * 10n ** BigInt(most - places);
    });
    return fromUnits(total, most);
  }

  #at(places: number) {
    return (this.#sums[places] ??= { total: 0n, pending: 0 });
  }
}
