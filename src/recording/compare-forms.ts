import { isPlainKey } from '../list/list-drift.js';
import { Digits, parseDigits } from './digits.js';
import type { Exchange, ExchangeKind } from './read-recording.js';

const NAMES: Readonly<Record<ExchangeKind, string>> = {
  token: 'the token endpoint',
  page: 'the account list',
  'past-the-end': 'a page past the end',
  'one-row': 'a page of one row',
};
/** Headers whose values are compared. */
const COMPARED_VALUES = new Set(['content-type', 'content-encoding', 'cache-control']);
const STATUS = 'the status';

/** Maximum length of a path. The bank's have at most 50 characters; deeper values are not compared. */
const MAX_PATH_LENGTH = 500;
const MAX_PLACES = 10_000;

/** The forms found at each place in one kind of exchange: the status, a header, a path of the body. */
type Forms = Map<string, Set<string>>;

/** Differences in form, status and COMPARED_VALUES between two recordings of a bank, one per line. */
export function compareForms(before: readonly Exchange[], now: readonly Exchange[]): string[] {
  return Object.entries(NAMES).flatMap(([kind, name]) => {
    const formsIn = (exchanges: readonly Exchange[]) => toForms(exchanges.filter((each) => each.kind === kind));
    return compare(formsIn(before), formsIn(now)).map((difference) => `${name}: ${difference}`);
  });
}

function compare(old: Forms, now: Forms): string[] {
  const at = (forms: Forms, place: string) => [...(forms.get(place) ?? [])].toSorted().join(', ');
  const differencesAt = (place: string): string[] => {
    const [was, is] = [at(old, place), at(now, place)];
    if (was === is) return [];
    if (was === '') return [`${place} came`];
    return [is === '' ? `${place} went` : `${place} was ${was}; now ${is}`];
  };
  const status = differencesAt(STATUS);
  // a response with a different status has a different body
  if (status.length > 0) return status;
  return [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap(differencesAt);
}

function toForms(exchanges: readonly Exchange[]): Forms {
  const forms: Forms = new Map();
  const add = (place: string, form: string) => {
    const found = forms.get(place);
    if (found) found.add(form);
    else if (forms.size < MAX_PLACES) forms.set(place, new Set([form]));
  };
  for (const { status, failure, headers, body } of exchanges) {
    add(STATUS, String(status ?? failure));
    for (const [name, value] of Object.entries(headers)) {
      if (name === 'date') continue;
      add(`header ${name.startsWith('*') ? '*' : name}`, COMPARED_VALUES.has(name) && value !== null ? value : 'any');
    }
    addBody(body, add);
  }
  if (exchanges.length === 0) add(STATUS, 'none');
  return forms;
}

function addBody(text: string, add: (path: string, form: string) => void): void {
  if (text.startsWith('\ufeff')) add('the body', 'a byte order mark');
  let parsed: unknown;
  try {
    parsed = parseDigits(text.replace(/^\ufeff/, ''));
  } catch {
    add('the body', text === '' ? 'empty' : 'no JSON');
    return;
  }
  const visit = (value: unknown, path: string): void => {
    if (path.length > MAX_PATH_LENGTH) return;
    if (Array.isArray(value)) {
      add(path, 'list');
      for (const each of value as unknown[]) visit(each, `${path}[]`);
    } else if (typeof value === 'object' && value !== null && !(value instanceof Digits)) {
      add(path, 'object');
      const prefix = path === 'the body' ? '' : `${path}.`;
      for (const [key, each] of Object.entries(value)) visit(each, prefix + (isPlainKey(key) ? key : '*'));
    } else {
      add(path, formOf(value));
    }
  };
  visit(parsed, 'the body');
}

function formOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Digits) return numberForm(value.text);
  if (typeof value !== 'string') return typeof value;
  if (value === '') return 'empty text';
  if (/^\d{4}-\d{2}-\d{2}/.test(value)) return `date ${dateForm(value)}`;
  if (/^-?\d+(\.\d+)?$/.test(value)) return `text of ${numberForm(value)}`;
  return 'text';
}

/** Some servers drop the trailing zeros of a fraction, so its length is a value, not a form. */
const dateForm = (text: string): string =>
  text
    .replaceAll(/\d/g, '9')
    .replace(/([.,])9+/, '$19')
    .slice(0, 50);

const numberForm = (source: string): string => (/e/i.test(source) ? 'number with an exponent' : 'number');
