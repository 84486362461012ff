/** The exact sum of two decimals, with the most decimal places of the terms: 1.10 + 0.1 = 1.20. */
export function addDecimals(a: string, b: string): string {
  return new ExactSum().add(a).add(b).toString();
}

/** Adds decimals exactly. The sum keeps the most decimal places of its terms. */
export class ExactSum {
  #units = 0n;
  #places = 0;

  add(amount: string): this {
    const places = decimalPlaces(amount);
    if (places > this.#places) {
      this.#units *= 10n ** BigInt(places - this.#places);
      this.#places = places;
    }
    this.#units += toUnits(amount, this.#places);
    return this;
  }

  toString(): string {
    return fromUnits(this.#units, this.#places);
  }
}

/**
 * A string that sorts exactly as the decimal does, at any length. Equal decimals (1.10 and 1.1, -0 and 0) have equal
 * strings.
 */
export function toSortableDecimal(text: string): string {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const digits = whole.replace(/^0+/, '');
  const key = `${String(digits.length).padStart(3, '0')}${digits}.${fraction.replace(/0+$/, '')}`;
  if (!text.startsWith('-') || key === '000.') return `+${key}`;
  // the larger the digits, the smaller a negative number; `~` makes one that ends earlier the larger one
  return `!${key.replace(/\d/g, (digit) => String(9 - Number(digit)))}~`;
}

/** The number of digits after the decimal point. */
function decimalPlaces(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}

/** A decimal as a whole number of its smallest unit at `places` decimal places, at least its own: 1.5 at 2 is 150. */
function toUnits(text: string, places: number): bigint {
  return BigInt(text.replace('.', '') + '0'.repeat(places - decimalPlaces(text)));
}

/** The reverse of `toUnits`; a zero has no sign. */
function fromUnits(units: bigint, places: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
  const sign = units < 0n ? '-' : '';
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
