import { createTypeChooser } from '../http/negotiation.js';
import { GatewayError } from '../problems/gateway-error.js';
import type { Format } from './list-query.js';

/** The media types of our formats. */
export const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
} as const satisfies Record<Format, string>;

const chooseListType = createTypeChooser([MEDIA_TYPES.json, MEDIA_TYPES.csv, MEDIA_TYPES.ndjson]);
const chooseJsonType = createTypeChooser([MEDIA_TYPES.json]);

/** The format of the account list for an Accept header; JSON where it has no preference. @throws GatewayError not-acceptable */
export function toListFormat(accept: string | undefined): Format {
  const type = chooseListType(accept);
  if (type === 'none') throw notAcceptable();
  return type === MEDIA_TYPES.csv ? 'csv' : type === MEDIA_TYPES.ndjson ? 'ndjson' : 'json';
}

/** @throws GatewayError not-acceptable, where an Accept header excludes JSON */
export function assertAcceptsJson(accept: string | undefined): void {
  if (chooseJsonType(accept) === 'none') throw notAcceptable();
}

const notAcceptable = () =>
  new GatewayError('not-acceptable', 'The Accept header excludes every format that this route offers; see /docs.');
