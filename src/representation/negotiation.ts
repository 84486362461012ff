import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { GatewayError } from '../errors/gateway-error.js';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Compression = Exclude<Encoding, 'identity'>;

/** The first one wins if the caller accepts several equally. */
const PREFERRED: Encoding[] = ['br', 'gzip', 'identity'];

/** Preferences, which @types/negotiator lacks: it predates negotiator 1. */
interface EncodingChoice {
  encoding(available: string[], options: { preferred: string[] }): string | undefined;
}

/** Maximum number of header characters to read: Negotiator takes quadratic time. */
const MAX_HEADER_LENGTH = 1000;
/** Smaller bodies are sent uncompressed. */
export const MIN_COMPRESSED_BYTES = 1024;
/** A function, so that a bundle without compression needs no zlib (client/testing). */
const toBrotliOptions = () => ({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

/** Replaces the unread rest of a long `Accept`: any type, with the lowest weight. */
const REST_OF_ACCEPT = '*/*;q=0.001';

/**
 * Creates a function that chooses a media type by `Accept`. It returns null if `Accept` excludes all offered types.
 * Parameters make no difference.
 */
export function createTypeChooser<T extends string>(offered: readonly [T, ...T[]]): (accept?: string) => T | null {
  return (accept) => {
    // an empty header counts as a missing one
    if (!accept || accept === '*/*') return offered[0];
    const only = offered.find((each) => each === accept);
    if (only) return only;
    const read = accept.length <= MAX_HEADER_LENGTH ? accept : firstEntries(accept) + REST_OF_ACCEPT;
    const ranges = read.replaceAll(/;(?!\s*q=)[^;,="]*(?:="[^"]*"|=[^;,]*)?/gi, '');
    const type = new Negotiator({ headers: { accept: ranges } }).mediaType([...offered]);
    return offered.find((each) => each === type) ?? null;
  };
}

/** Like `createTypeChooser`, but its choice throws GatewayError not-acceptable instead of returning null. */
export function createStrictTypeChooser<T extends string>(offered: readonly [T, ...T[]]): (accept?: string) => T {
  const choose = createTypeChooser(offered);
  return (accept) => {
    const type = choose(accept);
    if (type !== null) return type;
    throw new GatewayError('not-acceptable', `The Accept header excludes ${offered.join(', ')}.`);
  };
}

/** @throws GatewayError not-acceptable if an Accept header excludes JSON */
export const assertAcceptsJson: (accept?: string) => void = createStrictTypeChooser(['application/json']);

/** The encoding for an Accept-Encoding header: br before gzip if the caller accepts both equally. */
export function toEncoding(header: string | string[] | undefined): Encoding {
  if (!header) return 'identity';
  const text = String(header);
  const read = text.length <= MAX_HEADER_LENGTH ? text : firstEntries(text);
  if (!/[;*]/.test(read)) return preferredOf(splitList(read));
  const choice: EncodingChoice = new Negotiator({ headers: { 'accept-encoding': read } });
  const accepted = choice.encoding(PREFERRED, { preferred: PREFERRED });
  return preferredOf([accepted]);
}

const preferredOf = (accepted: readonly unknown[]): Encoding =>
  PREFERRED.find((each) => accepted.includes(each)) ?? 'identity';

/**
 * The entries of a header without weights, which is what most callers send. This takes a sixth of Negotiator's time.
 */
const splitList = (header: string): string[] => header.split(',').map((entry) => entry.trim().toLowerCase());

/** The leading complete entries of a long header. */
const firstEntries = (header: string): string => header.slice(0, header.lastIndexOf(',', MAX_HEADER_LENGTH) + 1);

/** Compresses a whole body. */
export const compress = (body: Buffer, encoding: Compression): Promise<Buffer> =>
  encoding === 'br' ? promisify(brotliCompress)(body, toBrotliOptions()) : promisify(gzip)(body);

/** Compresses a body as it is read. An error ends it as it would end an uncompressed one. */
export function compressStream(body: Readable, encoding: Compression): Readable {
  return pipeline(body, encoding === 'br' ? createBrotliCompress(toBrotliOptions()) : createGzip(), () => undefined);
}
