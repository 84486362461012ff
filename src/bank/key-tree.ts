import { toText } from '../egress/answer.js';
import { ACCOUNT_FIELDS, type Fields, type Kind } from './account-fields.js';
import {
  ARRAY,
  bit,
  knowsAll,
  knowsKey,
  NUMBER,
  OBJECT,
  Place,
  STRING,
  toShown,
  WORD,
  type JsonType,
} from './place.js';

/** Something in the bank's answers that the gateway does not know; never a value, but for a word of an enumeration. */
export interface Drift {
  /** From the account on, such as `balances[].availableAmount`; `envelope.…` for what stands around the list. */
  readonly path: string;
  readonly type: JsonType;
  /** Of `status`, `protectionType` and the `type` of a balance, where it is a word of up to 40 letters. */
  readonly value?: string;
}

/** More are not told apart, and not looked for. */
export const MAX_DRIFT = 100;
/** A larger page is not parsed a second time, to tell numbers from texts. */
const MAX_EXACT_BYTES = 8 * 1024 * 1024;
const NUMBER_TEXT = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * What the bank's pages are made of, by names and JSON types, compared with the table of fields and the documented envelope
 * (docs/bank.md#fields-of-an-account). It notes each difference once, and is blind to values. Never an error.
 */
export class KeyTree {
  readonly #account = new Place('', 0, OBJECT);
  readonly #envelope = new Place('envelope', 0, OBJECT | ARRAY);
  readonly #found: Drift[] = [];
  #taken = 0;

  constructor() {
    addFields(this.#account, ACCOUNT_FIELDS);
    const pageInfo = new Place('envelope.pageInfo', 1, OBJECT);
    for (const place of [this.#envelope, pageInfo]) {
      for (const name of ['currentPage', 'pageSize', 'rowCount']) add(place, name, NUMBER);
    }
    this.#envelope.keys.set('pageInfo', pageInfo);
  }

  /** All that was noted, oldest first. */
  get found(): readonly Drift[] {
    return this.#found;
  }

  /** What was noted since it was last taken. */
  take(): readonly Drift[] {
    const news = this.#found.slice(this.#taken);
    this.#taken = this.#found.length;
    return news;
  }

  /**
   * Looks at a page. Its numbers are texts by then (docs/bank.md#amounts), so that a number where a text should be, or the
   * other way round, is seen only in the page as it came: in the first of a list, and in one that holds something new.
   * @param list the name of the accounts in the document; null when it is a bare array of them
   */
  look(document: unknown, list: string | null, body: Uint8Array, first: boolean): void {
    if (this.#full) return;
    const exact = body.length <= MAX_EXACT_BYTES;
    if (!(first && exact) && this.#knowsPage(document, list)) return;
    if (exact) this.learn(JSON.parse(toText(body, 'the account list')), list, true);
    else this.learn(document, list, false);
  }

  /** Notes what is new in a page. @param exact numbers are numbers */
  learn(document: unknown, list: string | null, exact: boolean): void {
    if (list === null) this.#learnAll(document, this.#account, exact);
    else if (isObject(document)) {
      for (const key in document) {
        if (key === list) this.#learnAll(document[key], this.#account, exact);
        else this.#learnKey(key, document[key], this.#envelope, exact);
      }
    }
  }

  /** The paths of known fields that no object has had in which they belong. */
  missing(): string[] {
    return this.#account.seen === 0 ? [] : missingWithin(this.#account);
  }

  get #full(): boolean {
    return this.#found.length >= MAX_DRIFT;
  }

  #knowsPage(document: unknown, list: string | null): boolean {
    if (list === null) return knowsAll(document, this.#account);
    if (!isObject(document)) return true;
    for (const key in document) {
      if (key === list ? !knowsAll(document[key], this.#account) : !knowsKey(key, document[key], this.#envelope))
        return false;
    }
    return true;
  }

  #learnAll(rows: unknown, place: Place, exact: boolean): void {
    if (!Array.isArray(rows)) return;
    for (const row of rows) this.#learn(row, place, exact);
  }

  #learnKey(key: string, value: unknown, parent: Place, exact: boolean): void {
    if (this.#full) return;
    let place = parent.at(key);
    if (!place) {
      const shown = toShown(key);
      place = new Place(parent.child(shown), parent.depth + 1);
      parent.keys.set(shown, place);
      if (value === null) this.#note(place, 'null');
    }
    this.#learn(value, place, exact);
  }

  #learn(value: unknown, place: Place, exact: boolean): void {
    if (this.#full) return;
    const type = typeOf(value, exact ? 0 : place.types);
    place.seen |= bit(type);
    if ((place.types & bit(type)) === 0) {
      place.types |= bit(type);
      if (place.values && type === 'number') place.odd = true;
      this.#note(place, type);
    } else if (type === 'string' && !place.allows(value as string)) this.#noteValue(place, value as string);
    if (!place.open) return;
    if (type === 'array') {
      const items = (place.items ??= new Place(`${place.path}[]`, place.depth + 1));
      for (const item of value as unknown[]) this.#learn(item, items, exact);
    } else if (type === 'object') {
      for (const key in value as object) this.#learnKey(key, (value as Row)[key], place, exact);
    }
  }

  #noteValue(place: Place, value: string): void {
    if (!WORD.test(value)) {
      place.odd = true;
      this.#note(place, 'string');
      return;
    }
    place.values?.add(value);
    this.#found.push({ path: place.path, type: 'string', value });
  }

  #note({ path }: Place, type: JsonType): void {
    this.#found.push({ path, type });
  }
}

type Row = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param scalars where numbers have become texts, the types that a text may be; else 0 */
function typeOf(value: unknown, scalars: number): JsonType {
  if (value === null) return 'null';
  if (typeof value === 'string' && scalars !== 0) {
    if ((scalars & (NUMBER | STRING)) === NUMBER) return 'number';
    return (scalars & STRING) === 0 && NUMBER_TEXT.test(value) ? 'number' : 'string';
  }
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}

function addFields(place: Place, fields: Fields): void {
  for (const [name, kind] of Object.entries(fields)) addKind(place, name, kind);
}

function addKind(parent: Place, name: string, { type, items, fields, values }: Kind<unknown>): void {
  const place = add(parent, name, bit(type), values);
  if (type !== 'array') return;
  place.items = new Place(`${place.path}[]`, place.depth + 1, items ? bit(items) : OBJECT);
  if (fields) addFields(place.items, fields);
}

function add(parent: Place, name: string, types: number, values?: readonly string[]): Place {
  const place = new Place(parent.child(name), parent.depth + 1, types, values ?? null);
  parent.keys.set(name, place);
  return place;
}

function missingWithin(place: Place): string[] {
  return [...place.keys.values()].flatMap((each) => {
    if (each.seen === 0) return [each.path];
    return each.items && each.items.seen !== 0 ? missingWithin(each.items) : [];
  });
}
