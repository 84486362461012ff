import { hasManyDigits } from '../errors/many-digits.js';
import { ACCOUNT_FIELDS, BALANCE_FIELDS, IDENTIFIER_FIELDS, type Fields } from './account-fields.js';

/** A difference from the account that we know; contains a value only for a word of an open list. */
export interface Drift {
  /** The path within the account, for example `balances[].availableAmount`. */
  readonly path: string;
  /** The unknown word of `status`, `protectionType` or a balance's `type`, if it has at most 40 letters. */
  readonly value?: string;
  /** True for a known field that no account has any longer. */
  readonly missing?: true;
}

/** The fields of the accounts on a page. */
export interface PageFields {
  /** Unknown keys and words, each once, at most 200. */
  readonly drift: readonly Drift[];
  /** Paths of the known fields that at least one account has. */
  readonly known: readonly string[];
}

/** Maximum number of findings on one page. */
const MAX_DRIFT = 200;

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

/** Every object of an account whose fields we know, with the path before its fields. */
const LEVELS: readonly (readonly [path: string, fields: Fields])[] = [
  ['', ACCOUNT_FIELDS],
  ...[...ENTRY_FIELDS].map(([key, fields]) => [`${key}[].`, fields] as const),
];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;
const WORD = /^[A-Za-z]{1,40}$/;

type Row = Readonly<Record<string, unknown>>;

/** Compares the accounts of a page, their balances and identifiers with the fields that we know. */
export function findDrift(accounts: readonly Row[]): PageFields {
  const found = { drift: new Map<string, Drift>(), known: new Map<Fields, Set<string>>() };
  for (const account of accounts) checkFields(account, ACCOUNT_FIELDS, '', found);
  const known = LEVELS.flatMap(([path, fields]) => [...(found.known.get(fields) ?? [])].map((key) => path + key));
  return { drift: [...found.drift.values()], known };
}

interface Found {
  readonly drift: Map<string, Drift>;
  readonly known: Map<Fields, Set<string>>;
}

function checkFields(row: Row, fields: Fields, path: string, found: Found): void {
  const note = (drift: Drift) => {
    if (found.drift.size < MAX_DRIFT) found.drift.set(keyOf(drift), drift);
  };
  const known = found.known.get(fields) ?? new Set<string>();
  found.known.set(fields, known);
  for (const key in row) {
    if (!Object.hasOwn(fields, key)) {
      note({ path: path + toShownKey(key) });
      continue;
    }
    known.add(key);
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
export const keyOf = ({ path, value = '', missing }: Drift): string => `${path} ${value} ${missing === true}`;

/** The key if it is safe to show, else `*`: it may be data, an IBAN for example. */
const toShownKey = (key: string): string => (PLAIN_KEY.test(key) && !hasManyDigits(key) ? key : '*');
