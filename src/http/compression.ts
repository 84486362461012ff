import { pipeline, type Readable } from 'node:stream';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { byHeader } from './negotiation.js';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Compression = Exclude<Encoding, 'identity'>;

/** Smaller bodies are sent as they are. */
export const MIN_COMPRESSED_BYTES = 1024;
const COMPRESSIBLE =
  /^(?:text\/|application\/(?:[a-z.-]+\+)?(?:json|x-ndjson|javascript|openmetrics-text|xml)|image\/svg)/;

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Compresses a whole body. */
export function compress(
  body: string | Buffer,
  encoding: Compression,
  done: (error: Error | null, compressed: Buffer) => void,
): void {
  if (encoding === 'br') brotliCompress(body, BROTLI, done);
  else gzip(body, done);
}

/** The encoding for an Accept-Encoding header: br before gzip where the caller accepts both alike. */
export const toEncoding = byHeader((header): Encoding => {
  if (header === undefined) return 'identity';
  // @types/negotiator is older than negotiator 1, which takes preferences
  const negotiator = new Negotiator({ headers: { 'accept-encoding': header } }) as unknown as {
    encoding(available: Encoding[], options: { preferred: Encoding[] }): Encoding | undefined;
  };
  return negotiator.encoding(['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] }) ?? 'identity';
});

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
  if (reply.hasHeader('content-range')) return false;
  const length = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : Infinity;
  return length > MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''));
}
