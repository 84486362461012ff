import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import pLimit from 'p-limit';
import type { Encoding } from './content-negotiation.js';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Below this compression saves nothing worth having. */
const MIN_COMPRESSED_BYTES = 1024;

/** At once: all must not take every thread of Node's pool, on which names are looked up and files read too. */
const compressing = pLimit(2);

/** The bytes of an answer in one form. */
export interface Encoded {
  readonly encoding: Encoding;
  readonly body: Buffer;
}

/** An answer made once and given many times: its bytes, compressed once for each encoding, and its entity tag. */
export class EncodedResponse {
  readonly #plain: Encoded;
  readonly #ready = new Map<Encoding, Encoded>();
  readonly #pending = new Map<Encoding, Promise<Encoded>>();
  readonly #onGrown: (response: EncodedResponse) => void;

  /** @param onGrown called when another form has been made and is kept */
  constructor(
    body: Buffer,
    readonly etag: string,
    onGrown: (response: EncodedResponse) => void,
  ) {
    this.#plain = { encoding: 'identity', body };
    this.#onGrown = onGrown;
  }

  /** Of all its forms together. */
  get bytes(): number {
    let sum = this.#plain.body.length;
    for (const { body } of this.#ready.values()) sum += body.length;
    return sum;
  }

  /** The answer in this form when it is there already, else null. */
  ready(encoding: Encoding): Encoded | null {
    if (encoding === 'identity' || this.#plain.body.length < MIN_COMPRESSED_BYTES) return this.#plain;
    return this.#ready.get(encoding) ?? null;
  }

  async as(encoding: Encoding): Promise<Encoded> {
    const ready = this.ready(encoding);
    if (ready) return ready;
    let making = this.#pending.get(encoding);
    if (!making) {
      making = compressing(() => this.#compress(encoding));
      this.#pending.set(encoding, making);
    }
    return making;
  }

  async #compress(encoding: Encoding): Promise<Encoded> {
    const { body } = this.#plain;
    try {
      const encoded: Encoded = {
        encoding,
        body:
          encoding === 'br'
            ? await compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
            : await compressGzip(body),
      };
      this.#ready.set(encoding, encoded);
      this.#onGrown(this);
      return encoded;
    } finally {
      this.#pending.delete(encoding);
    }
  }
}

/** A weak entity tag (RFC 9110 §8.8.3): the same for the same data, wherever it comes from. */
export function toEntityTag(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}
