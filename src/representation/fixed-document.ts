import { extname } from 'node:path';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { mergeMap, type Observable } from 'rxjs';
import { compress, MIN_COMPRESSED_BYTES, toEncoding, type Compression } from './negotiation.js';

const COMPRESSIBLE = /^(?:text\/|application\/json|image\/svg)/;

/** Occupies one thread of Node's pool; the others are for calls. */
const inTurn = pLimit(1);

type DocumentHeaders = Readonly<Record<string, string>>;

/** A document that never changes while the process runs. It is compressed once per encoding, when first asked for. */
export class FixedDocument {
  readonly #body: Buffer;
  readonly #headers: DocumentHeaders;
  readonly #isCompressible: boolean;
  readonly #compressed: Partial<Record<Compression, Promise<Buffer>>> = {};

  constructor(body: string | Buffer, headers: DocumentHeaders) {
    this.#body = typeof body === 'string' ? Buffer.from(body) : body;
    this.#headers = headers;
    this.#isCompressible = this.#body.length > MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(headers['content-type'] ?? '');
  }

  /** Sets the headers of a response; returns its body in the encoding that the caller prefers. */
  async respond({ headers }: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
    const encoding = this.#isCompressible ? toEncoding(headers['accept-encoding']) : 'identity';
    if (encoding === 'identity') {
      reply.headers(this.#headers);
      return this.#body;
    }
    const body = await (this.#compressed[encoding] ??= inTurn(() => compress(this.#body, encoding)));
    reply.headers({ ...this.#headers, 'content-encoding': encoding });
    return body;
  }
}

/** Sends the `FixedDocument` that a handler returns, with its headers, in the encoding that the caller prefers. */
export class SendFixedDocument implements NestInterceptor<FixedDocument, Buffer> {
  intercept(context: ExecutionContext, next: CallHandler<FixedDocument>): Observable<Buffer> {
    const http = context.switchToHttp();
    const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    return next.handle().pipe(mergeMap((document) => document.respond(request, reply)));
  }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.tgz': 'application/gzip',
};

/** The files that pages load or link to, by name, ready to send. Files of other types are left out. */
export function toDocuments(files: ReadonlyMap<string, Buffer>, cacheControl: string): Map<string, FixedDocument> {
  const documents = new Map<string, FixedDocument>();
  for (const [name, file] of files) {
    const type = MEDIA_TYPES[extname(name)];
    if (type) documents.set(name, new FixedDocument(file, { 'content-type': type, 'cache-control': cacheControl }));
  }
  return documents;
}
