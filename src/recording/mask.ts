import { createHmac, hash, randomBytes } from 'node:crypto';
import { isValidIBAN } from 'ibantools';

/** ISO 8601, up to any precision. */
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(?:([.,])(\d+))?)?)?( ?(?:Z|[+-]\d{2}:?\d{2}))?$/i;
/** Dates that mean "no date": all before the year 1000, 1 January of 1000 to 1899, 30 and 31 December 1899. */
const NO_DATE = /^(0\d{3}-|1[0-8]\d\d-01-01|1899-12-3[01])/;
/** National check digits are found by trial: no country has more than two pairs of digits. */
const MAX_TRIES = 30_000;

/** Characters of one kind within a Unicode block of 128: each is replaced by another of them. */
const blocks = new Map<string, string[]>();
/** The last one has Roman numerals, superscripts, letters in circles, vowel signs. */
const KINDS = [/\p{Nd}/u, /\p{Lu}/u, /\p{Ll}/u, /\p{L}/u, /\p{N}|\p{Alphabetic}/u];

/**
 * Replaces values with others of the same shape: a digit with a digit, a letter with one of its case, an IBAN with a
 * valid one of its country, a date with a date of its form. Equal values stay equal, under a key that is never stored.
 */
export class Mask {
  readonly #key = randomBytes(32);
  readonly #texts = new Map<string, string>();
  readonly #numbers = new Map<string, string>();

  /** Number of replaced values. */
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

  /** Random numbers that depend on the key and the value only. */
  *#random(value: string): Generator<number, never> {
    // the value once: a page of an error may have megabytes
    const seed = createHmac('sha256', this.#key).update(value).digest('hex');
    for (let block = 0; ; block++) {
      const bytes = hash('sha512', `${seed} ${block}`, 'buffer');
      for (let at = 0; at < bytes.length; at += 4) yield bytes.readUInt32LE(at);
    }
  }

  /** Every replaced character changes. */
  #shape(value: string): string {
    const random = this.#random(value);
    return Array.from(value, (character) => {
      const others = choicesFor(character).filter((each) => each !== character);
      return others.length === 0 ? character : (others[random.next().value % others.length] as string);
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
    const country = plain.slice(0, 2);
    let candidate = plain;
    for (let times = 0; times < MAX_TRIES; times++) {
      const account = this.#shape(`${times} ${plain.slice(4)}`).slice(`${times} `.length);
      candidate = country + checkDigits(country, account) + account;
      if (isValidIBAN(candidate)) break;
    }
    return candidate;
  }

  /** A valid date of the same form. Midnight stays midnight, and "no date" stays. */
  #date(value: string, parts: RegExpExecArray): string {
    if (NO_DATE.test(value)) return value;
    const random = this.#random(value);
    const two = (from: number, to: number) => String(from + (random.next().value % (to - from + 1))).padStart(2, '0');
    const [, , , , between = '', hour, minute, second, point = '', fraction, zone = ''] = parts;
    const day = `20${two(0, 29)}-${two(1, 12)}-${two(1, 28)}`;
    if (hour === undefined) return day === value ? this.#shape(value) : day + zone;
    const isMidnight = /^[0:.]*$/.test([hour, minute, second, fraction].join(''));
    const keep = (part: string | undefined, most: number) => (isMidnight ? part : two(0, most));
    const seconds = second === undefined ? '' : `:${keep(second, 59)}`;
    const rest = fraction === undefined ? '' : point + (isMidnight ? fraction : this.#shape(fraction));
    return `${day}${between}${keep(hour, 23)}:${keep(minute, 59)}${seconds}${rest}${zone}`;
  }
}

function choicesFor(character: string): string[] {
  const kind = KINDS.findIndex((each) => each.test(character));
  if (kind < 0) return [];
  const code = character.codePointAt(0) ?? 0;
  const start = code & ~127;
  const key = `${kind} ${start}`;
  const known = blocks.get(key);
  if (known) return known;
  const all = Array.from({ length: 128 }, (_, index) => String.fromCodePoint(start + index));
  const found = all.filter((each) => KINDS.findIndex((one) => one.test(each)) === kind);
  blocks.set(key, found);
  return found;
}

/** ISO 13616: 98 − the number modulo 97. */
function checkDigits(country: string, account: string): string {
  const digits = Array.from(`${account}${country}00`, (character) => parseInt(character, 36)).join('');
  return String(98n - (BigInt(digits) % 97n)).padStart(2, '0');
}
