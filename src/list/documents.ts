import { createHash } from 'node:crypto';
import type { AccountList } from './account-list.js';
import type { SnapshotFacts } from './document-schemas.js';
import { findProperties, toRows, type Export, type Query } from './queries.js';
import type { Sliced } from './slices.js';

/** Characters. */
const MAX_LENGTH = 4 * 1024 * 1024;

export interface WholeDocument {
  /** Digest of the data, `stale` and `complete`: equal for equal data, whichever refresh or instance they came from. */
  readonly digest: string;
  /** UTF-8. Null for a document of more than MAX_LENGTH, which is read in pieces instead. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

const utf8 = new TextEncoder();

/** Null for an account that is not in the list. */
export function* toDocument(list: AccountList, query: Query, facts: SnapshotFacts): Sliced<WholeDocument | null> {
  const properties = yield* findProperties(list, query);
  if (properties === null) return null;
  const hash = createHash('sha256');
  const parts: string[] = [];
  let length = 0;
  for (const part of toJson(properties)) {
    hash.update(part);
    length += part.length;
    if (length <= MAX_LENGTH) parts.push(part);
    yield;
  }
  // excludes the times, which change without the data
  hash.update(JSON.stringify([facts.stale, facts.complete]));
  const digest = hash.digest('base64url').slice(0, 27);
  const body = length <= MAX_LENGTH ? utf8.encode([...parts, toEnd(facts)].join('')) : null;
  return { digest, body };
}

/** A document of any length in parts, for a null body or an export. A step without text is undefined. */
export function* toParts(
  list: AccountList,
  asked: Query | Export,
  facts: SnapshotFacts,
): Generator<string | undefined, void> {
  if (asked.kind === 'csv' || asked.kind === 'ndjson') return yield* toRows(list, asked, facts.asOf);
  const properties = yield* findProperties(list, asked);
  yield* toJson(properties ?? {});
  yield toEnd(facts);
}

/** A JSON object without its closing brace: each property, and each entry of a list, is a part. */
function* toJson(properties: object): Generator<string, void> {
  let before = '{';
  for (const [name, value] of Object.entries(properties)) {
    yield `${before}"${name}":`;
    before = ',';
    if (Array.isArray(value)) yield* toJsonList(value);
    else yield JSON.stringify(value);
  }
}

/** A JSON array; each entry is a part. */
export function* toJsonList(entries: readonly unknown[]): Generator<string, void> {
  yield '[';
  for (const [index, entry] of entries.entries()) yield `${index === 0 ? '' : ','}${JSON.stringify(entry)}`;
  yield ']';
}

const toEnd = (facts: SnapshotFacts): string => `,"snapshot":${JSON.stringify(facts)}}`;
