import type { Snapshot } from '../snapshot/snapshot.js';
import { csvHead, toCsv, toRows, type CsvDialect } from './csv.js';

const OPENING = Buffer.from('{"accounts":[');
const COMMA = Buffer.from(',');
/** Written in one go, in a millisecond or two. */
const ROWS_AT_ONCE = 200;
const LINE_END = Buffer.from('\n');

interface Page {
  readonly number: number;
  readonly size: number;
  readonly total: number;
  readonly hasMore: boolean;
}

/** The JSON of a page, but for its end: `{"accounts":[…],"page":{…}`. */
export function* toPageParts(snapshot: Snapshot, positions: Uint32Array, page: Page): Generator<Buffer> {
  yield OPENING;
  let first = true;
  for (const position of positions) {
    if (!first) yield COMMA;
    first = false;
    yield snapshot.json(position);
  }
  yield Buffer.from(`],"page":${JSON.stringify(page)}`);
}

/** The NDJSON of the accounts at these positions, a line each. */
export function* toNdjsonParts(snapshot: Snapshot, positions: Uint32Array): Generator<Buffer> {
  for (const position of positions) {
    yield snapshot.json(position);
    yield LINE_END;
  }
}

/** The CSV of the accounts at these positions, with its header line, in pieces of many rows. */
export function* toCsvParts(snapshot: Snapshot, positions: Uint32Array, dialect: CsvDialect): Generator<Buffer> {
  yield Buffer.from(csvHead(dialect));
  let rows = [];
  for (const position of positions) {
    for (const row of toRows(snapshot.account(position), snapshot.asOf, dialect)) {
      if (rows.push(row) < ROWS_AT_ONCE) continue;
      yield Buffer.from(toCsv(rows, dialect));
      rows = [];
    }
  }
  if (rows.length > 0) yield Buffer.from(toCsv(rows, dialect));
}

/** The bytes of the accounts at these positions. */
export function sizeOf(snapshot: Snapshot, positions: Uint32Array): number {
  let bytes = 0;
  for (const position of positions) bytes += snapshot.json(position).length;
  return bytes;
}
