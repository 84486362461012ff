import { pipeline, type Readable } from 'node:stream';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { GatewayError } from '../errors/gateway-error.js';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Compression = Exclude<Encoding, 'identity'>;

/** Maximum number of header characters that are read: Negotiator takes quadratic time. */
const MAX_HEADER_LENGTH = 1000;
/** Smaller bodies are sent as they are. */
export const MIN_COMPRESSED_BYTES = 1024;
const COMPRESSIBLE =
  /^(?:text\/|application\/(?:[a-z.-]+\+)?(?:json|x-ndjson|javascript|openmetrics-text|xml)|image\/svg)/;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Creates a choice of a media type by `Accept`; null when it excludes all that are offered. Parameters make no difference. */
export function createTypeChooser<T extends string>(offered: readonly [T, ...T[]]): (accept?: string) => T | null {
  return byHeader((accept) => {
    if (accept === undefined) return offered[0];
    const ranges = accept.replaceAll(/;\s*(?!q=)[^;,="]*(?:="[^"]*"|=[^;,]*)?/gi, '');
    const type = new Negotiator({ headers: { accept: ranges } }).mediaType([...offered]);
    return offered.find((each) => each === type) ?? null;
  });
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

/** @throws GatewayError not-acceptable, where an Accept header excludes JSON */
export const assertAcceptsJson: (accept?: string) => void = createStrictTypeChooser(['application/json']);

/** The encoding for an Accept-Encoding header: br before gzip if the caller accepts both equally. */
export const toEncoding = byHeader((header): Encoding => {
  if (header === undefined) return 'identity';
  // @types/negotiator is older than negotiator 1, which takes preferences
  const negotiator = new Negotiator({ headers: { 'accept-encoding': header } }) as unknown as {
    encoding(available: Encoding[], options: { preferred: Encoding[] }): Encoding | undefined;
  };
  return negotiator.encoding(['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] }) ?? 'identity';
});

/** The choice of `choose` for a request header, remembered for the 200 headers seen most recently. */
function byHeader<T>(choose: (header: string | undefined) => T): (header: string | undefined) => T {
  const known = new LRUCache<string, { readonly choice: T }>({ max: 200 });
  const withoutHeader = choose(undefined);
  return (header) => {
    if (header === undefined) return withoutHeader;
    const read =
      header.length > MAX_HEADER_LENGTH ? header.slice(0, header.lastIndexOf(',', MAX_HEADER_LENGTH) + 1) : header;
    let found = known.get(read);
    if (!found) known.set(read, (found = { choice: choose(read) }));
    return found.choice;
  };
}

/** Compresses a whole body. */
export function compress(
  body: string | Buffer,
  encoding: Compression,
  done: (error: Error | null, compressed: Buffer) => void,
): void {
  if (encoding === 'br') brotliCompress(body, BROTLI, done);
  else gzip(body, done);
}

/** Fastify's `onSend`: compresses bodies of over 1 KB that are not compressed yet, where the caller accepts it. */
export function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  const encoding = toEncoding(request.headers['accept-encoding']);
  if (encoding === 'identity' || !isCompressible(reply, payload)) {
    done(null, payload);
    return;
  }
  reply.header('content-encoding', encoding).removeHeader('content-length');
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
    compress(payload, encoding, done);
  } else {
    // an error ends the response as it would without compression
    done(
      null,
      pipeline(payload, encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(), () => undefined),
    );
  }
}

function isCompressible(reply: FastifyReply, payload: unknown): payload is string | Buffer | Readable {
  if (payload === null || payload === undefined || reply.hasHeader('content-encoding')) return false;
  const length = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : Infinity;
  return length > MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''));
}
