import type { FastifyReply, FastifyRequest } from 'fastify';
import { compressNow, MIN_COMPRESSED_BYTES, toEncoding, type Compression } from './negotiation.js';

const COMPRESSIBLE = /^(?:text\/|application\/json|image\/svg)/;

/** Headers of a document, its type among them. */
type DocumentHeaders = Readonly<Record<string, string>>;

/** A document that never changes while the process runs. Each compressed form is built once, when it is first asked for. */
export class FixedDocument {
  readonly #body: Buffer;
  readonly #headers: DocumentHeaders;
  readonly #isCompressed: boolean;
  readonly #compressed = new Map<Compression, Buffer>();

  constructor(body: string | Buffer, headers: DocumentHeaders) {
    this.#body = typeof body === 'string' ? Buffer.from(body) : body;
    this.#headers = headers;
    this.#isCompressed = this.#body.length > MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(headers['content-type'] ?? '');
  }

  /** Sets the headers of a response; returns its body in the encoding that the caller prefers. */
  answer({ headers }: FastifyRequest, reply: FastifyReply): Buffer {
    const encoding = this.#isCompressed ? toEncoding(headers['accept-encoding']) : 'identity';
    if (encoding === 'identity') {
      reply.headers(this.#headers);
      return this.#body;
    }
    reply.headers({ ...this.#headers, 'content-encoding': encoding });
    return this.#compress(encoding);
  }

  #compress(encoding: Compression): Buffer {
    const known = this.#compressed.get(encoding);
    if (known) return known;
    const compressed = compressNow(this.#body, encoding);
    this.#compressed.set(encoding, compressed);
    return compressed;
  }
}
