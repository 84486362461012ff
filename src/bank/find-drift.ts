import { ACCOUNT_FIELDS, BALANCE_FIELDS, IDENTIFIER_FIELDS, type Fields } from './account-fields.js';

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

/** The known words of open lists. */
const WORDS = new Map<string, readonly unknown[]>([
  ['status', ['Active', 'Closed']],
  ['protectionType', ['None', 'ClientMoney', 'SafeGuarded']],
  ['type', ['CurrentBalance']],
]);
/** The fields of what is in lists of objects. */
const ENTRIES = new Map<string, Fields>([
  ['balances', BALANCE_FIELDS],
  ['accountIdentifiers', IDENTIFIER_FIELDS],
]);

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;
const MANY_DIGITS = /(?:\d\D*){5}/;
const WORD = /^[A-Za-z]{1,40}$/;

type Row = Readonly<Record<string, unknown>>;

/** Unknown keys of accounts, balances and identifiers, and unknown words of open lists, each once. */
export function findDrift(accounts: readonly Row[]): Drift[] {
  const found = new Map<string, Drift>();
  for (const account of accounts) look(account, ACCOUNT_FIELDS, '', found);
  return [...found.values()];
}

function look(row: Row, fields: Fields, path: string, found: Map<string, Drift>): void {
  const note = (drift: Drift) => found.set(keyOf(drift), drift);
  let looked = 0;
  for (const key in row) {
    if (found.size >= MAX_DRIFT || ++looked > MAX_LOOKED_AT) return;
    if (!Object.hasOwn(fields, key)) {
      note({ path: path + toShownKey(key) });
      continue;
    }
    const value = row[key];
    const words = WORDS.get(key);
    if (words && value !== null && value !== '' && !words.includes(value)) {
      note(typeof value === 'string' && WORD.test(value) ? { path: path + key, value } : { path: path + key });
    }
    const inEntries = ENTRIES.get(key);
    if (!inEntries || !Array.isArray(value)) continue;
    for (const entry of value.slice(0, MAX_LOOKED_AT) as unknown[]) {
      if (typeof entry === 'object' && entry !== null) look(entry as Row, inEntries, `${path}${key}[].`, found);
    }
  }
}

/** Identifies a finding. */
export const keyOf = ({ path, value = '' }: Drift): string => `${path} ${value}`;

/** The key if it is safe to show, else `*`: it may be data, an IBAN for example. */
const toShownKey = (key: string): string => (PLAIN_KEY.test(key) && !MANY_DIGITS.test(key) ? key : '*');
