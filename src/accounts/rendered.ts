import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Below this compression saves nothing worth having. */
const MIN_COMPRESSED_BYTES = 1024;

/** An answer made once and given many times: its bytes, compressed once for each encoding, and its entity tag. */
export class Rendered {
  readonly etag: string;
  readonly #plain: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  /** @param data what the tag stands for: the body without `asOf`, which changes while the data does not */
  constructor(body: string, data: string) {
    this.#plain = Buffer.from(body);
    this.etag = `W/"${createHash('sha256').update(data).digest('base64url').slice(0, 27)}"`;
  }

  get bytes(): number {
    return this.#plain.length;
  }

  async as(encoding: Encoding): Promise<{ readonly encoding: Encoding; readonly body: Buffer }> {
    if (encoding === 'identity' || this.#plain.length < MIN_COMPRESSED_BYTES)
      return { encoding: 'identity', body: this.#plain };
    let body = this.#compressed.get(encoding);
    if (!body) {
      body =
        encoding === 'br'
          ? compressBrotli(this.#plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
          : compressGzip(this.#plain);
      this.#compressed.set(encoding, body);
    }
    return { encoding, body: await body };
  }
}
