import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { GatewayError } from '../problems/gateway-error.js';
import type { WireAnswer } from './wire-client.js';

/** The response has, or declares, more bytes than BANK_MAX_RESPONSE_BYTES. */
export class AnswerTooLarge extends Error {}

const [UNZIP, BROTLI] = [promisify(unzip), promisify(brotliDecompress)];

/** The content encodings of `readBody`, for Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * The whole body without its Content-Encoding. Stricter than axios, which returns the beginning of a compressed body that
 * was cut off as if it were complete.
 * @throws AnswerTooLarge; Error when it is damaged, cut off, or in an encoding that was not asked for
 */
export async function readBody(stream: Readable, encoding: string, maxBytes: number): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // iteration joins small chunks, each of which has an overhead in memory and time
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new AnswerTooLarge();
    pieces.push(piece);
  }
  const name = encoding.trim().toLowerCase();
  if (bytes === 0 || name === '' || name === 'identity') return pieces;
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) throw new Error('a content encoding that was not requested');
  const decompress = name === 'br' ? BROTLI : UNZIP;
  try {
    return [(await decompress(Buffer.concat(pieces), { maxOutputLength: maxBytes })) as Buffer];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw new AnswerTooLarge();
    throw error;
  }
}

/** The first bytes of the body as latin1, without joining all chunks. */
export function startOf({ pieces }: Pick<WireAnswer, 'pieces'>, bytes: number): string {
  let text = '';
  for (const piece of pieces) {
    if (text.length === bytes) break;
    text += piece.toString('latin1', 0, bytes - text.length);
  }
  return text;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body, which must be UTF-8; a byte order mark is dropped. @throws GatewayError bank-response-invalid */
export function toText(body: Uint8Array, target: string): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new GatewayError('bank-response-invalid', `The response from ${target} is not valid UTF-8.`);
  }
}
