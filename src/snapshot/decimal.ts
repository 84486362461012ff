import { Big } from 'big.js';
import { compareTexts } from './compare-texts.js';

const DECIMAL = /^(-?)0*(\d*?)(?:\.(\d*?)0*)?$/;

/** Decimals of so many digits, once they have equally many places, are exact as doubles, and so are sums of two. */
const EXACT_DIGITS = 15;

/** The exact sum of two decimals, with the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export function addDecimals(a: string, b: string): string {
  const places = Math.max(decimalPlaces(a), decimalPlaces(b));
  if (Math.max(a.length, b.length) + places <= EXACT_DIGITS) {
    const scale = 10 ** places;
    const sum = Math.round(Number(a) * scale) + Math.round(Number(b) * scale);
    // no sign for a zero
    return ((sum || 0) / scale).toFixed(places);
  }
  return toDecimal(new Big(a).plus(b), places);
}

/** Written out with `places` decimal places. */
export function toDecimal(value: Big, places: number): string {
  const text = value.toFixed(places);
  // Big keeps the sign of a zero; a sum of nothing has none
  return text.startsWith('-') && /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

/** How many digits stand after the point. */
export function decimalPlaces(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}

/** Orders two decimals exactly, whatever their length: less than 0 when `a` is less; 1.10 and 1.1, -0 and 0 are equal. */
export function compareDecimals(a: string, b: string): number {
  // rounding to doubles never changes an order, it only makes neighbours equal
  const [x, y] = [Number(a), Number(b)];
  if (x < y) return -1;
  if (x > y) return 1;
  const left = readDecimal(a);
  const right = readDecimal(b);
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const order =
    left.whole.length - right.whole.length ||
    compareTexts(left.whole, right.whole) ||
    compareTexts(left.fraction, right.fraction);
  return left.negative && order !== 0 ? -order : order;
}

function readDecimal(text: string) {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  return { negative: sign === '-' && whole + fraction !== '', whole, fraction };
}
