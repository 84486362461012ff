import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { GatewayError } from '../errors/gateway-error.js';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Compression = Exclude<Encoding, 'identity'>;

/** The first wins if the caller accepts several without weights. */
const PREFERRED: Encoding[] = ['br', 'gzip', 'identity'];

/** A longer header counts as missing: Negotiator takes quadratic time. */
const MAX_HEADER_LENGTH = 1000;
/** Bodies of at most this size are sent uncompressed, but not downloads. */
export const MIN_COMPRESSED_BYTES = 1024;
/** A function, so that a bundle without compression needs no zlib (client/testing). */
const toBrotliOptions = () => ({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

/** The media type to send: null if `Accept` excludes all offered ones. Parameters make no difference. */
export function chooseType<T extends string>(offered: readonly [T, ...T[]], accept?: string): T | null {
  // an empty header counts as a missing one
  if (!accept || accept === '*/*' || accept.length > MAX_HEADER_LENGTH) return offered[0];
  const only = offered.find((each) => each === accept);
  if (only) return only;
  const ranges = accept.replaceAll(/;(?!\s*q=)[^;,="]*(?:="[^"]*"|=[^;,]*)?/gi, '');
  const type = new Negotiator({ headers: { accept: ranges } }).mediaType([...offered]);
  return offered.find((each) => each === type) ?? null;
}

/** As `chooseType`. @throws GatewayError not-acceptable instead of returning null */
export function requireType<T extends string>(offered: readonly [T, ...T[]], accept?: string): T {
  const type = chooseType(offered, accept);
  if (type !== null) return type;
  throw new GatewayError('not-acceptable', `The Accept header excludes ${offered.join(', ')}.`);
}

/** @throws GatewayError not-acceptable if an Accept header excludes JSON */
export const assertAcceptsJson = (accept?: string): void => void requireType(['application/json'], accept);

export function toEncoding(header: string | string[] | undefined): Encoding {
  if (!header) return 'identity';
  const text = String(header);
  if (text.length > MAX_HEADER_LENGTH) return 'identity';
  // most callers send no weights, and reading those entries takes less time than Negotiator
  if (!/[;*]/.test(text)) return preferredOf(text.split(',').map((entry) => entry.trim().toLowerCase()));
  return preferredOf([new Negotiator({ headers: { 'accept-encoding': text } }).encoding(PREFERRED)]);
}

const preferredOf = (accepted: readonly unknown[]): Encoding =>
  PREFERRED.find((each) => accepted.includes(each)) ?? 'identity';

export const compress = (body: Buffer, encoding: Compression): Promise<Buffer> =>
  encoding === 'br' ? promisify(brotliCompress)(body, toBrotliOptions()) : promisify(gzip)(body);

/** Compresses a body as it is read. An error ends it as it would end an uncompressed one. */
export function compressStream(body: Readable, encoding: Compression): Readable {
  return pipeline(body, encoding === 'br' ? createBrotliCompress(toBrotliOptions()) : createGzip(), () => undefined);
}
