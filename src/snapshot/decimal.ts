import { Big } from 'big.js';

/** So many digits and decimal places, scaled to whole numbers and added, are exact as doubles. */
const EXACT_LENGTH = 13;
const EXACT_PLACES = 2;

/** The exact sum of two decimals, with the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export function addDecimals(a: string, b: string): string {
  const places = Math.max(decimalPlaces(a), decimalPlaces(b));
  if (a.length <= EXACT_LENGTH && b.length <= EXACT_LENGTH && places <= EXACT_PLACES) {
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

export function decimalPlaces(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}
