import { hasManyDigits } from '../errors/many-digits.js';
import { ACCOUNT_FIELDS, BALANCE_FIELDS, IDENTIFIER_FIELDS, type Fields, type Row } from './bank-account.js';

export interface Drift {
  /** Within the account, for example `balances[].availableAmount`. */
  readonly path: string;
  /** The unknown word of `status`, `protectionType` or a balance's `type`, if it has at most 40 letters. */
  readonly value?: string;
  /** True for a known field that no account has any longer. */
  readonly missing?: true;
}

export interface FoundFields {
  /** Unknown keys and words, each once, at most 200. */
  readonly drift: readonly Drift[];
  /** Paths of the known fields that at least one account has. */
  readonly known: readonly string[];
}

const MAX_DRIFT = 200;

/** The paths of known fields, by name. */
type Level = ReadonlyMap<string, string>;

const toLevel = (prefix: string, fields: Fields): Level =>
  new Map(Object.keys(fields).map((key) => [key, prefix + key]));

const ACCOUNT = toLevel('', ACCOUNT_FIELDS);
const ENTRIES: Readonly<Record<string, Level>> = {
  balances: toLevel('balances[].', BALANCE_FIELDS),
  accountIdentifiers: toLevel('accountIdentifiers[].', IDENTIFIER_FIELDS),
};

/** Empty values are not unknown words. */
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  status: ['Active', 'Closed', '', null],
  protectionType: ['None', 'ClientMoney', 'SafeGuarded', '', null],
  'balances[].type': ['CurrentBalance', '', null],
};

/** Gathers the fields of a list's accounts, and their differences from the known ones (docs/bank.md#drift). */
export class ListDrift {
  readonly #drift = new Map<string, Drift>();
  readonly #known = new Set<string>();

  add(account: Row): void {
    this.#check(account, ACCOUNT, '');
  }

  found(): FoundFields {
    return { drift: [...this.#drift.values()], known: [...this.#known] };
  }

  #check(row: Row, fields: Level, prefix: string): void {
    for (const key in row) {
      const path = fields.get(key);
      if (path === undefined) {
        this.#note({ path: prefix + toShownKey(key) });
        continue;
      }
      this.#known.add(path);
      const value = row[key];
      if (WORDS[path]?.includes(value) === false) this.#note({ path, ...toShownWord(value) });
      const entries = ENTRIES[path];
      if (!entries || !Array.isArray(value)) continue;
      for (const entry of value as unknown[]) {
        if (typeof entry === 'object' && entry !== null) this.#check(entry as Row, entries, `${path}[].`);
      }
    }
  }

  #note(drift: Drift): void {
    if (this.#drift.size < MAX_DRIFT) this.#drift.set(keyOf(drift), drift);
  }
}

/** Findings with the same key are the same drift. */
export const keyOf = ({ path, value = '', missing }: Drift): string => `${path} ${value} ${missing === true}`;

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;
const WORD = /^[A-Za-z]{1,40}$/;

/** True for a key that is safe to show. Another one may be data, such as an IBAN. */
export const isPlainKey = (key: string): boolean => PLAIN_KEY.test(key) && !hasManyDigits(key);

const toShownKey = (key: string): string => (isPlainKey(key) ? key : '*');

const toShownWord = (value: unknown): Pick<Drift, 'value'> =>
  typeof value === 'string' && WORD.test(value) ? { value } : {};
