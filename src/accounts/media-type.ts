import Negotiator from 'negotiator';
import { GatewayError } from '../problems/gateway-error.js';
import type { Format } from './list-query.js';
import { remember } from './remember.js';

/** The content types of our formats. */
export const MEDIA_TYPES: Record<Format, string> = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
};

/** The format for an Accept header out of those that a route offers, or `none` when it excludes them all. */
export type ChooseFormat = (accept: string | undefined) => Format | 'none';

/** All we give is UTF-8, so a charset is no reason to refuse. */
export function createChooser(offered: readonly [Format, ...Format[]]): ChooseFormat {
  const types = offered.map((format) => MEDIA_TYPES[format]);
  return remember((accept) => {
    if (accept === undefined) return offered[0];
    const header = accept.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^;,\s]*)/gi, '');
    const type = new Negotiator({ headers: { accept: header } }).mediaType(types);
    return offered.find((format) => MEDIA_TYPES[format] === type) ?? 'none';
  });
}

export const chooseListFormat = createChooser(['json', 'csv', 'ndjson']);
export const chooseJson = createChooser(['json']);

/** @throws GatewayError not-acceptable */
export function toFormat(accept: string | undefined, choose: ChooseFormat): Format {
  const format = choose(accept);
  if (format !== 'none') return format;
  throw new GatewayError('not-acceptable', 'The Accept header excludes every format that this route gives; see /docs.');
}
