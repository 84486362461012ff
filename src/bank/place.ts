const NAMES = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;
export type JsonType = (typeof NAMES)[number];

/** What lies deeper is not looked into. */
const MAX_DEPTH = 8;
const MAX_REMEMBERED_KEYS = 64;

/** A type as a bit. */
export const bit = (type: JsonType): number => 1 << NAMES.indexOf(type);
export const [NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT] = NAMES.map(bit) as [
  number,
  number,
  number,
  number,
  number,
  number,
];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;
const MANY_DIGITS = /(?:\d\D*){5}/;
/** A name as it may be told (docs/operations.md#drift): any other may be data, an IBAN or a text. */
export const toShown = (key: string): string => (PLAIN_KEY.test(key) && !MANY_DIGITS.test(key) ? key : '*');
/** A word of an enumeration that may be told. */
export const WORD = /^[A-Za-z]{1,40}$/;

/** One place in the document: what is known of it, what has been noted included. */
export class Place {
  types: number;
  seen = 0;
  readonly keys = new Map<string, Place>();
  items: Place | null = null;
  /** The words of an enumeration; null where any text is fine. */
  readonly values: Set<string> | null;
  /** Texts that are no words have been noted. */
  odd = false;
  /** The keys in the order in which they came last: most objects of a list are alike. */
  readonly lastKeys: string[] = [];
  readonly lastPlaces: Place[] = [];

  constructor(
    readonly path: string,
    readonly depth: number,
    types = 0,
    values: readonly string[] | null = null,
  ) {
    this.types = types | NULL;
    this.values = values && new Set(values);
  }

  /** The place of a key; undefined when it is not known. */
  at(key: string): Place | undefined {
    return this.keys.get(key) ?? (this.keys.size > 0 && toShown(key) === '*' ? this.keys.get('*') : undefined);
  }

  child(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  /** Whether what is in it is looked at; what lies deeper is not. */
  get open(): boolean {
    return this.depth < MAX_DEPTH;
  }

  /** Whether a text is one that is known here. */
  allows(text: string): boolean {
    const { values } = this;
    return values === null || text === '' || values.has(text) || (this.odd && !WORD.test(text));
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Whether nothing is new in any of these; numbers are texts here. It runs over every value of every page. */
export function knowsAll(rows: unknown, place: Place): boolean {
  if (!Array.isArray(rows)) return true;
  for (const row of rows) if (!knows(row, place)) return false;
  return true;
}

/** The same for one key of an object. */
export function knowsKey(key: string, value: unknown, parent: Place): boolean {
  const place = parent.at(key);
  return place !== undefined && knows(value, place);
}

function knows(value: unknown, place: Place): boolean {
  if (typeof value === 'string') {
    return (place.types & (STRING | NUMBER)) !== 0 && (place.values === null || place.allows(value));
  }
  if (value === null) return true;
  if (typeof value === 'boolean') return (place.types & BOOLEAN) !== 0;
  if (Array.isArray(value)) {
    if ((place.types & ARRAY) === 0) return false;
    const { items } = place;
    if (!items) return !place.open || value.length === 0;
    for (const item of value as unknown[]) if (!knows(item, items)) return false;
    return true;
  }
  return (place.types & OBJECT) !== 0 && (!place.open || knowsObject(value as Row, place));
}

function knowsObject(row: Row, parent: Place): boolean {
  const { lastKeys, lastPlaces } = parent;
  let at = 0;
  for (const key in row) {
    let place = lastPlaces[at];
    if (place === undefined || lastKeys[at] !== key) {
      place = parent.at(key);
      if (!place) return false;
      if (at < MAX_REMEMBERED_KEYS && parent.keys.has(key)) {
        lastKeys[at] = key;
        lastPlaces[at] = place;
      }
    }
    if (!knows(row[key], place)) return false;
    at += 1;
  }
  return true;
}
