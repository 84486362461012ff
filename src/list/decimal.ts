/** The exact sum of two decimals, with the most decimal places of the terms: 1.10 + 0.1 = 1.20. */
export function addDecimals(a: string, b: string): string {
  return new ExactSum().add(a).add(b).toString();
}

/** Adds decimals exactly. The sum keeps the most decimal places of its terms. */
export class ExactSum {
  /** The sum in units of its last decimal place: 1.5 at two places is 150. */
  #units = 0n;
  #places = 0;

  add(amount: string): this {
    const point = amount.indexOf('.');
    const places = point === -1 ? 0 : amount.length - point - 1;
    if (places > this.#places) {
      this.#units *= 10n ** BigInt(places - this.#places);
      this.#places = places;
    }
    this.#units += BigInt(amount.replace('.', '') + '0'.repeat(this.#places - places));
    return this;
  }

  /** A zero has no sign. */
  toString(): string {
    const places = this.#places;
    const sign = this.#units < 0n ? '-' : '';
    const digits = String(this.#units)
      .replace('-', '')
      .padStart(places + 1, '0');
    return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
  }
}

/** A string that sorts as the decimal does, up to 999 whole digits. Equal decimals (1.10 and 1.1, -0 and 0) have equal strings. */
export function toSortableDecimal(text: string): string {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const digits = whole.replace(/^0+/, '');
  const key = `${String(digits.length).padStart(3, '0')}${digits}.${fraction.replace(/0+$/, '')}`;
  if (!text.startsWith('-') || key === '000.') return `+${key}`;
  // the larger the digits, the smaller a negative number; `~` makes one that ends earlier the larger one
  return `!${key.replace(/\d/g, (digit) => String(9 - Number(digit)))}~`;
}
