import { Big } from 'big.js';

/** The exact sum of two decimals, with the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export function addDecimals(a: string, b: string): string {
  const places = Math.max(decimalPlaces(a), decimalPlaces(b));
  const sum = new Big(a).plus(b).toFixed(places);
  // Big keeps the sign of a zero; a sum of nothing has none
  return /^-0(\.0*)?$/.test(sum) ? sum.slice(1) : sum;
}

function decimalPlaces(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}
