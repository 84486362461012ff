import { isValidIBAN } from 'ibantools';
import { hasManyDigits } from '../../../errors/many-digits.js';
import { Digits, parseDigits } from '../../../sandbox/accounts/digits.js';
import type { Exchange, ExchangeKind } from '../../../sandbox/replay/read-recording.js';

const NAMES: Readonly<Record<ExchangeKind, string>> = {
  token: 'the token endpoint',
  page: 'the account list',
  'past-the-end': 'a page past the end',
  'one-row': 'a page of one row',
};
/** Headers whose value is a form. */
const COMPARED_VALUES = new Set(['content-type', 'content-encoding', 'cache-control']);
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The form of one kind of exchange. */
interface Form {
  readonly statuses: ReadonlySet<string>;
  readonly headers: ReadonlySet<string>;
  /** The forms found at each path of the body. */
  readonly body: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What differs in form between two recordings of a bank, a line each. Values are not compared. */
export function compareForms(before: readonly Exchange[], now: readonly Exchange[]): string[] {
  const kinds = Object.keys(NAMES) as ExchangeKind[];
  return kinds.flatMap((kind) => {
    const [old, current] = [before, now].map((all) => toForm(all.filter((each) => each.kind === kind))) as [Form, Form];
    const differences = compare(old, current);
    return differences.map((difference) => `${NAMES[kind]}: ${difference}`);
  });
}

function compare(old: Form, now: Form): string[] {
  const status = changed('status', old.statuses, now.statuses);
  // another answer has another body
  if (status) return [status];
  const headers = differing(old.headers, now.headers).map(([name, came]) => `header ${name} ${came ? 'came' : 'went'}`);
  const paths = new Set([...old.body.keys(), ...now.body.keys()]);
  const body = [...paths].toSorted().flatMap((path) => {
    const [was, is] = [old.body.get(path), now.body.get(path)];
    if (was && is) return changed(path, was, is) ?? [];
    // what is below something that came or went has come or gone with it
    const parent = parentOf(path);
    if (parent !== null && old.body.has(parent) !== now.body.has(parent)) return [];
    return `${path} ${is ? 'came' : 'went'}`;
  });
  return [...headers, ...body];
}

function changed(what: string, was: ReadonlySet<string>, is: ReadonlySet<string>): string | null {
  if (differing(was, is).length === 0) return null;
  const list = (forms: ReadonlySet<string>) => [...forms].toSorted().join(', ') || 'none';
  return `${what} was ${list(was)}; now ${list(is)}`;
}

function differing(was: ReadonlySet<string>, is: ReadonlySet<string>): (readonly [string, boolean])[] {
  return [
    ...[...is].filter((each) => !was.has(each)).map((each) => [each, true] as const),
    ...[...was].filter((each) => !is.has(each)).map((each) => [each, false] as const),
  ];
}

/** `a[].b` is below `a[]`, which is below `a`. */
function parentOf(path: string): string | null {
  if (path.endsWith('[]')) return path.slice(0, -2);
  const end = path.lastIndexOf('.');
  return end < 0 ? null : path.slice(0, end);
}

function toForm(exchanges: readonly Exchange[]): Form {
  const body = new Map<string, Set<string>>();
  const headers = new Set<string>();
  for (const exchange of exchanges) {
    for (const [name, value] of Object.entries(exchange.headers)) {
      const shown = name.startsWith('*') ? '*' : name;
      // the runtime decides it for each body
      if (name === 'date') continue;
      headers.add(COMPARED_VALUES.has(name) && value !== null ? `${shown}: ${value}` : shown);
    }
    addForms(exchange.body, body);
  }
  return { statuses: new Set(exchanges.map(({ status, failure }) => String(status ?? failure))), headers, body };
}

function addForms(text: string, found: Map<string, Set<string>>): void {
  const add = (path: string, form: string) => {
    const forms = found.get(path) ?? new Set();
    found.set(path, forms.add(form));
  };
  if (text.startsWith('\ufeff')) add('the body', 'a byte order mark');
  let parsed: unknown;
  try {
    parsed = parseDigits(text.replace(/^\ufeff/, ''));
  } catch {
    add('the body', text === '' ? 'empty' : 'no JSON');
    return;
  }
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      add(path, 'list');
      for (const each of value as unknown[]) visit(each, `${path}[]`);
    } else if (typeof value === 'object' && value !== null && !(value instanceof Digits)) {
      add(path, 'object');
      for (const [key, each] of Object.entries(value))
        visit(each, `${path === 'the body' ? '' : `${path}.`}${toShownKey(key)}`);
    } else {
      add(path, formOf(value));
    }
  };
  visit(parsed, 'the body');
}

/** A masked key begins with `*`; one that looks like data is masked at the bank, too. */
const toShownKey = (key: string): string => (PLAIN_KEY.test(key) && !hasManyDigits(key) ? key : '*');

function formOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Digits) return numberForm(value.text);
  if (typeof value !== 'string') return typeof value;
  if (value === '') return 'empty text';
  if (/^\d{4}-\d{2}-\d{2}/.test(value)) return `date ${value.replaceAll(/\d/g, '9').slice(0, 50)}`;
  if (/^-?\d+(\.\d+)?$/.test(value)) return `text of ${numberForm(value)}`;
  if (UUID.test(value)) return 'UUID';
  if (isValidIBAN(value)) return 'IBAN';
  return 'text';
}

function numberForm(source: string): string {
  const [, decimals, exponent] = /^-?\d+(?:\.(\d+))?([eE].*)?$/.exec(source) ?? [];
  const form = decimals === undefined ? 'number' : `number with ${decimals.length} decimals`;
  return exponent === undefined ? form : `${form} and exponent`;
}
