import { ACCOUNT_FIELDS, type Fields } from './account-fields.js';

/** An unknown field of an account; contains a value only for a word of an open list. */
export interface Drift {
  /** The path within the account, for example `balances[].availableAmount`. */
  readonly path: string;
  /** The unknown word of `status`, `protectionType` or a balance's `type`, if it has at most 40 letters. */
  readonly value?: string;
}

/** Maximum number of findings. */
export const MAX_DRIFT = 50;
/** Maximum number of keys of one object, and of entries of one list, that are checked. */
const MAX_LOOKED_AT = 200;

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;
const MANY_DIGITS = /(?:\d\D*){5}/;
const WORD = /^[A-Za-z]{1,40}$/;

/** The key if it is safe to show, else `*`: it may be data, an IBAN for example. */
export const toShownKey = (key: string): string => (PLAIN_KEY.test(key) && !MANY_DIGITS.test(key) ? key : '*');

type Row = Readonly<Record<string, unknown>>;

/** Gathers unknown keys of accounts, balances and identifiers, and unknown words of open lists, each once. */
export class DriftFinder {
  readonly #found = new Map<string, Drift>();

  get found(): readonly Drift[] {
    return [...this.#found.values()];
  }

  look(account: Row): void {
    this.#lookAt(account, ACCOUNT_FIELDS, '');
  }

  #lookAt(row: Row, fields: Fields, path: string): void {
    let looked = 0;
    for (const key in row) {
      if (this.#found.size >= MAX_DRIFT || ++looked > MAX_LOOKED_AT) return;
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const value = row[key];
      if (!field) this.#note({ path: path + toShownKey(key) });
      else if (field.words) this.#lookAtWord(value, field.words, path + key);
      else if (field.fields && Array.isArray(value)) {
        for (const entry of value.slice(0, MAX_LOOKED_AT) as unknown[]) {
          if (typeof entry === 'object' && entry !== null) this.#lookAt(entry as Row, field.fields, `${path}${key}[].`);
        }
      }
    }
  }

  #lookAtWord(value: unknown, known: readonly string[], path: string): void {
    if (value === null || value === '') return;
    if (typeof value !== 'string') this.#note({ path });
    else if (!known.includes(value)) this.#note(WORD.test(value) ? { path, value } : { path });
  }

  #note(drift: Drift): void {
    this.#found.set(`${drift.path} ${drift.value ?? ''}`, drift);
  }
}
