import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { Turns } from '../turns.js';
import type { Encoding } from './content-negotiation.js';

/** So much is gathered before it is written. */
const CHUNK_BYTES = 65_536;
/** A caller who takes nothing for so long is left. */
const STALLED_MS = 60_000;

/**
 * A long body, compressed as asked, made no faster than it is read and in short pieces of work. Destroying it ends all
 * work for it; it is destroyed by itself when nothing is read for a minute.
 */
export function createBodyStream(parts: Iterable<Buffer>, encoding: Encoding, turns: Turns): Readable {
  const plain = Readable.from(
    toChunks(parts, turns, () => stalled.refresh()),
    { objectMode: false },
  );
  const stalled = setTimeout(() => plain.destroy(new Error('nothing was read for a minute')), STALLED_MS);
  plain.once('close', () => clearTimeout(stalled));
  if (encoding === 'identity') return plain;
  const compressed =
    encoding === 'br' ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : createGzip();
  return pipeline(plain, compressed, () => undefined);
}

async function* toChunks(parts: Iterable<Buffer>, turns: Turns, onChunk: () => void): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    gathered.push(part);
    bytes += part.length;
    if (bytes < CHUNK_BYTES) continue;
    onChunk();
    yield Buffer.concat(gathered, bytes);
    gathered = [];
    bytes = 0;
    await turns.next();
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes);
}
