/** Digits that a double holds exactly, and so can the sum of some of them. */
const SMALL_DIGITS = 15;
const SAFE = 2 ** 52;

/** Adds decimals exactly; the sum keeps the most decimal places of what was added: 1.10 + 0.1 = 1.20. */
export class ExactSum {
  /** By decimal places: sums of the numbers without their points. */
  readonly #byPlaces = new Map<number, { small: number; large: bigint }>();

  add(decimal: string): void {
    const point = decimal.indexOf('.');
    const places = point === -1 ? 0 : decimal.length - point - 1;
    const digits = point === -1 ? decimal : decimal.slice(0, point) + decimal.slice(point + 1);
    let sum = this.#byPlaces.get(places);
    if (!sum) this.#byPlaces.set(places, (sum = { small: 0, large: 0n }));
    if (digits.length > SMALL_DIGITS) {
      sum.large += BigInt(digits);
      return;
    }
    sum.small += Number(digits);
    if (Math.abs(sum.small) > SAFE) {
      sum.large += BigInt(sum.small);
      sum.small = 0;
    }
  }

  toString(): string {
    const places = Math.max(0, ...this.#byPlaces.keys());
    let total = 0n;
    for (const [of, { small, large }] of this.#byPlaces) total += (large + BigInt(small)) * 10n ** BigInt(places - of);
    const digits = (total < 0n ? -total : total).toString().padStart(places + 1, '0');
    const whole = digits.slice(0, digits.length - places);
    return `${total < 0n ? '-' : ''}${whole}${places === 0 ? '' : `.${digits.slice(-places)}`}`;
  }
}
