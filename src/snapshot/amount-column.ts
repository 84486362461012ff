import { Big } from 'big.js';
import { compareDecimals, decimalPlaces, toDecimal } from './decimal.js';
import { textAt, toTexts, type Texts } from './bytes.js';

/** Digits that a double holds exactly, whatever they are. */
const EXACT_DIGITS = 15;
const NULL = 0xffff;
const LONG = 0xfffe;
/** Halves of a mantissa: sums of a hundred million of each stay exact. */
const HALF = 2 ** 26;

/**
 * Decimals as whole numbers and their decimal places, so that many are added quickly and exactly: 19435.50 is 1943550 and
 * 2. What has more than 15 digits stands in `long`, and `mantissas` then holds its place there.
 */
export interface AmountColumn {
  readonly mantissas: Float64Array;
  /** Decimal places; 0xffff stands for null, 0xfffe for a long one. */
  readonly places: Uint16Array;
  readonly long: Texts;
}

/** Gathers amounts as they come. */
export class AmountColumnBuilder {
  readonly #mantissas: number[] = [];
  readonly #places: number[] = [];
  readonly #long: string[] = [];

  push(amount: string | null): void {
    if (amount === null) {
      this.#places.push(NULL);
      this.#mantissas.push(0);
      return;
    }
    const places = decimalPlaces(amount);
    const short = (places === 0 ? amount.length : amount.length - 1) <= EXACT_DIGITS;
    this.#places.push(short ? places : LONG);
    this.#mantissas.push(short ? toMantissa(amount) : this.#long.push(amount) - 1);
  }

  /** Some of them, in the order given. */
  take(indexes: Uint32Array): AmountColumn {
    const mantissas = new Float64Array(indexes.length);
    const places = new Uint16Array(indexes.length);
    for (let at = 0; at < indexes.length; at++) {
      mantissas[at] = this.#mantissas[indexes[at] as number] as number;
      places[at] = this.#places[indexes[at] as number] as number;
    }
    return { mantissas, places, long: toTexts(this.#long) };
  }
}

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

/** The digits of a decimal as a whole number, without its point. */
function toMantissa(amount: string): number {
  const negative = amount.charCodeAt(0) === MINUS;
  let mantissa = 0;
  for (let at = negative ? 1 : 0; at < amount.length; at++) {
    const char = amount.charCodeAt(at);
    if (char !== POINT) mantissa = mantissa * 10 + (char - ZERO);
  }
  return negative ? -mantissa : mantissa;
}

/** Whether there is no amount at this index. */
export const isNull = ({ places }: AmountColumn, index: number): boolean => places[index] === NULL;

/** Orders two amounts of a column exactly: less than 0 when the one at `a` is less. */
export function compareAmounts(column: AmountColumn, a: number, b: number): number {
  const { mantissas, places } = column;
  if (places[a] === LONG || places[b] === LONG) return compareDecimals(amountAt(column, a), amountAt(column, b));
  if (places[a] === places[b]) return (mantissas[a] as number) - (mantissas[b] as number);
  // no two decimals of up to 15 digits have the same double
  return toDouble(column, a) - toDouble(column, b);
}

/** The amount at this index as a decimal; it is not null. */
function amountAt(column: AmountColumn, index: number): string {
  const { mantissas, places, long } = column;
  if (places[index] === LONG) return textAt(long, mantissas[index] as number);
  return toDouble(column, index).toFixed(places[index]);
}

const toDouble = ({ mantissas, places }: AmountColumn, index: number): number =>
  (mantissas[index] as number) / 10 ** (places[index] as number);

/** Adds amounts of a column exactly; the sum keeps the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export class ExactSum {
  readonly #column: AmountColumn;
  /** For each number of decimal places: the sums of the upper and the lower halves of the mantissas. */
  readonly #sums: ([high: number, low: number] | undefined)[] = [];
  #long = new Big(0);
  #places = 0;

  constructor(column: AmountColumn) {
    this.#column = column;
  }

  /** @param index of an amount that is not null */
  add(index: number): void {
    const { mantissas, places, long } = this.#column;
    const mantissa = mantissas[index] as number;
    const scale = places[index] as number;
    if (scale === LONG) {
      const text = textAt(long, mantissa);
      this.#long = this.#long.plus(text);
      this.#places = Math.max(this.#places, decimalPlaces(text));
      return;
    }
    const sum = (this.#sums[scale] ??= [0, 0]);
    const high = Math.trunc(mantissa / HALF);
    sum[0] += high;
    sum[1] += mantissa - high * HALF;
    if (scale > this.#places) this.#places = scale;
  }

  toString(): string {
    const total = this.#sums.reduce(
      (all, sum, scale) => (sum ? all.plus(`${BigInt(sum[0]) * BigInt(HALF) + BigInt(sum[1])}e-${scale}`) : all),
      this.#long,
    );
    return toDecimal(total, this.#places);
  }
}
