import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { GatewayError } from '../problems/gateway-error.js';
import type { Format } from './list-query.js';

/** The content types of our formats. */
export const MEDIA_TYPES: Record<Format, string> = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
};

/** The format for an Accept header out of those that a route offers, or `none` when it excludes them all. */
export type ChooseFormat = (accept: string | undefined) => Format | 'none';

/** Formats of the account list; JSON if the caller has no preference. */
export const chooseListFormat = createChooser(['json', 'csv', 'ndjson']);
/** Formats of all other routes. */
export const chooseJson = createChooser(['json']);

/** @throws GatewayError not-acceptable */
export function toFormat(accept: string | undefined, choose: ChooseFormat): Format {
  const format = choose(accept);
  if (format !== 'none') return format;
  throw new GatewayError('not-acceptable', 'The Accept header excludes every format that this route gives; see /docs.');
}

/** All we give is UTF-8, so a charset is no reason to refuse. */
function createChooser(offered: readonly [Format, ...Format[]]): ChooseFormat {
  const types = offered.map((format) => MEDIA_TYPES[format]);
  return remember((accept) => {
    if (accept === undefined) return offered[0];
    const header = accept.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^;,\s]*)/gi, '');
    const type = new Negotiator({ headers: { accept: header } }).mediaType(types);
    return offered.find((format) => MEDIA_TYPES[format] === type) ?? 'none';
  });
}

/** Characters of the header that are read: the work grows with the square of its length. */
const MAX_HEADER_LENGTH = 1000;

/** The same function of a header, with its results for those seen most often kept. */
function remember<T extends NonNullable<unknown>>(
  of: (header: string | undefined) => T,
): (header: string | undefined) => T {
  const known = new LRUCache<string, T>({ max: 200 });
  const ofNone = of(undefined);
  return (header) => {
    if (header === undefined) return ofNone;
    if (header.length > MAX_HEADER_LENGTH)
      return of(header.slice(0, Math.max(0, header.lastIndexOf(',', MAX_HEADER_LENGTH))));
    if (header.length > 300) return of(header);
    let result = known.get(header);
    if (result === undefined) known.set(header, (result = of(header)));
    return result;
  };
}
