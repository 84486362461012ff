import { Big } from 'big.js';

/** The exact sum of two decimals, with the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export function addDecimals(a: string, b: string): string {
  return toDecimal(new Big(a).plus(b), Math.max(decimalPlaces(a), decimalPlaces(b)));
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
