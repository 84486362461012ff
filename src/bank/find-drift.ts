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

/** The known words of each field that is an open list. */
const WORDS = new Map<string, readonly unknown[]>([
  ['status', ['Active', 'Closed']],
  ['protectionType', ['None', 'ClientMoney', 'SafeGuarded']],
  ['type', ['CurrentBalance']],
]);
/** The known fields of the entries of each list of objects. */
const ENTRY_FIELDS = new Map<string, Fields>([
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
  for (const account of accounts) checkFields(account, ACCOUNT_FIELDS, '', found);
  return [...found.values()];
}

function checkFields(row: Row, fields: Fields, path: string, found: Map<string, Drift>): void {
  const note = (drift: Drift) => found.set(keyOf(drift), drift);
  for (const key in row) {
    if (found.size >= MAX_DRIFT) return;
    if (!Object.hasOwn(fields, key)) {
      note({ path: path + toShownKey(key) });
      continue;
    }
    const value = row[key];
    const words = WORDS.get(key);
    if (words && value !== null && value !== '' && !words.includes(value)) {
      note(typeof value === 'string' && WORD.test(value) ? { path: path + key, value } : { path: path + key });
    }
    const entryFields = ENTRY_FIELDS.get(key);
    if (!entryFields || !Array.isArray(value)) continue;
    for (const entry of value as unknown[]) {
      if (typeof entry === 'object' && entry !== null)
        checkFields(entry as Row, entryFields, `${path}${key}[].`, found);
    }
  }
}

/** Findings with the same key are the same drift. */
export const keyOf = ({ path, value = '' }: Drift): string => `${path} ${value}`;

/** The key if it is safe to show, else `*`: it may be data, an IBAN for example. */
const toShownKey = (key: string): string => (PLAIN_KEY.test(key) && !MANY_DIGITS.test(key) ? key : '*');
