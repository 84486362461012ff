import { promisify } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { compress, MIN_COMPRESSED_BYTES, toEncoding, type Compression } from './negotiation.js';

const COMPRESSIBLE = /^(?:text\/|application\/json|image\/svg)/;

const compressed = promisify(compress);
/** Takes one thread of Node's pool; the others are for calls. */
const inTurn = pLimit(1);

/** Headers of a document, its type among them. */
type DocumentHeaders = Readonly<Record<string, string>>;

/** A document that never changes while the process runs. It is compressed once, in the background, as soon as it exists. */
export class FixedDocument {
  readonly #body: Buffer;
  readonly #headers: DocumentHeaders;
  /** Null for a document that is sent as it is. */
  readonly #compressed: Readonly<Record<Compression, Promise<Buffer>>> | null;

  constructor(body: string | Buffer, headers: DocumentHeaders) {
    this.#body = typeof body === 'string' ? Buffer.from(body) : body;
    this.#headers = headers;
    const isCompressed = this.#body.length > MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(headers['content-type'] ?? '');
    this.#compressed = isCompressed ? { br: this.#compress('br'), gzip: this.#compress('gzip') } : null;
  }

  /** Sets the headers of a response; returns its body in the encoding that the caller prefers. */
  async answer({ headers }: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
    const encoding = toEncoding(headers['accept-encoding']);
    if (encoding === 'identity' || !this.#compressed) {
      reply.headers(this.#headers);
      return this.#body;
    }
    const body = await this.#compressed[encoding];
    reply.headers({ ...this.#headers, 'content-encoding': encoding });
    return body;
  }

  #compress(encoding: Compression): Promise<Buffer> {
    const result = inTurn(() => compressed(this.#body, encoding));
    // each caller that awaits it gets the failure
    result.catch(() => undefined);
    return result;
  }
}
