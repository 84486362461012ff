import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';

/** The response has, or declares, more bytes than BANK_MAX_RESPONSE_BYTES. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** The encodings of `decompress`, for Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

const DECOMPRESSORS = new Map([
  ['gzip', promisify(unzip)],
  ['x-gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * The pieces of a body without its Content-Encoding. Stricter than axios, which returns the beginning of a body that was
 * cut off as if it were complete.
 * @throws AnswerTooLarge; Error when it is damaged, cut off, or in an encoding that was not asked for
 */
export async function decompress(
  pieces: readonly Buffer[],
  encoding: string,
  maxBytes: number,
): Promise<readonly Buffer[]> {
  const name = encoding.trim().toLowerCase();
  if (pieces.length === 0 || name === '' || name === 'identity') return pieces;
  const decompressor = DECOMPRESSORS.get(name);
  if (!decompressor) throw new Error('a content encoding that was not requested');
  try {
    return [(await decompressor(Buffer.concat(pieces), { maxOutputLength: maxBytes })) as Buffer];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw new AnswerTooLarge();
    throw error;
  }
}
