import { randomInt } from 'node:crypto';
import { composeIBAN, isValidIBAN } from 'ibantools';

/** ISO 8601, up to any precision. */
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(?:([.,])(\d+))?)?)?( ?(?:Z|[+-]\d{2}:?\d{2}))?$/i;
/** Means that there is no date. */
const NO_DATE = /^0001-/;
/** National check digits are found by trial: no country has more than two pairs of digits. */
const MAX_TRIES = 30_000;

/** Characters of one kind within a Unicode block of 128: each is replaced by another of them. */
const blocks = new Map<string, string[]>();
const KINDS = [/\p{Nd}/u, /\p{Lu}/u, /\p{Ll}/u, /\p{Lo}/u, /\p{L}/u, /\p{N}|\p{Alphabetic}/u];

/**
 * Replaces values with others of the same shape: a digit with a digit, a letter with one of its case, an IBAN with a
 * valid one of its country, a date with a date of its form, at random. Equal values stay equal.
 */
export class Mask {
  readonly #texts = new Map<string, string>();
  readonly #numbers = new Map<string, string>();

  get count(): number {
    return this.#texts.size + this.#numbers.size;
  }

  /** Up to five values, before and after masking, for the terminal only. */
  get samples(): readonly (readonly [string, string])[] {
    return [...this.#texts].filter(([before]) => before.length > 5).slice(0, 5);
  }

  text(value: string): string {
    return this.#once(this.#texts, value, () => {
      const date = DATE.exec(value);
      if (date) return this.#date(value, date);
      const plain = value.replaceAll(' ', '').toUpperCase();
      return isValidIBAN(plain) ? this.#iban(value, plain) : this.#shape(value);
    });
  }

  /** Masks a JSON number. Sign, number of digits before and after the point, and exponent stay; so does a zero. */
  number(value: string): string {
    const [, sign = '', whole = '', fraction = '', exponent = ''] = /^(-?)(\d+)(\.\d+)?(.*)$/s.exec(value) ?? [];
    if (/^[0.]*$/.test(whole + fraction)) return value;
    return this.#once(this.#numbers, value, () => {
      const digits = this.#shape(whole + fraction);
      const first = whole === '0' ? '0' : digits.startsWith('0') ? (whole.startsWith('1') ? '2' : '1') : digits[0];
      return sign + first + digits.slice(1) + exponent;
    });
  }

  #once(done: Map<string, string>, value: string, mask: () => string): string {
    const known = done.get(value);
    if (known !== undefined) return known;
    const masked = mask();
    if (masked !== value) done.set(value, masked);
    return masked;
  }

  /** Every replaced character changes. */
  #shape(value: string): string {
    return Array.from(value, (character) => {
      const others = choicesFor(character).filter((each) => each !== character);
      return others.length === 0 ? character : (others[randomInt(others.length)] as string);
    }).join('');
  }

  /** Masks an IBAN in its notation. With or without spaces, in any letter case, one IBAN gets the same replacement. */
  #iban(written: string, plain: string): string {
    const masked = this.#once(this.#texts, plain, () => this.#otherIban(plain));
    let at = 0;
    return Array.from(written, (character) => {
      if (character === ' ') return ' ';
      const next = masked[at++] ?? '';
      return character === character.toLowerCase() ? next.toLowerCase() : next;
    }).join('');
  }

  #otherIban(plain: string): string {
    for (let times = 0; times < MAX_TRIES; times++) {
      const iban = composeIBAN({ countryCode: plain.slice(0, 2), bban: this.#shape(plain.slice(4)) });
      if (iban !== null && isValidIBAN(iban)) return iban;
    }
    return this.#shape(plain);
  }

  /** A valid date of the same form. Midnight stays midnight, and "no date" stays. */
  #date(value: string, parts: RegExpExecArray): string {
    if (NO_DATE.test(value)) return value;
    const two = (from: number, to: number) => String(randomInt(from, to + 1)).padStart(2, '0');
    const [, , , , between = '', hour, minute, second, point = '', fraction, zone = ''] = parts;
    const day = `20${two(0, 29)}-${two(1, 12)}-${two(1, 28)}`;
    const isMidnight = /^[0:.]*$/.test([hour, minute, second, fraction].join(''));
    const keep = (part: string | undefined, most: number) => (isMidnight ? part : two(0, most));
    const seconds = second === undefined ? '' : `:${keep(second, 59)}`;
    const rest = fraction === undefined ? '' : point + (isMidnight ? fraction : this.#shape(fraction));
    const time = hour === undefined ? '' : `${between}${keep(hour, 23)}:${keep(minute, 59)}${seconds}${rest}`;
    const masked = day + time + zone;
    return masked === value ? this.#date(value, parts) : masked;
  }
}

function choicesFor(character: string): string[] {
  const kind = KINDS.findIndex((each) => each.test(character));
  if (kind < 0) return [];
  const start = (character.codePointAt(0) ?? 0) & ~127;
  const key = `${kind} ${start}`;
  const known = blocks.get(key);
  if (known) return known;
  const all = Array.from({ length: 128 }, (_, index) => String.fromCodePoint(start + index));
  const found = all.filter((each) => KINDS.findIndex((one) => one.test(each)) === kind);
  blocks.set(key, found);
  return found;
}
