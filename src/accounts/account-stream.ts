import { pipeline, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { Account } from './account.js';
import { CSV_HEAD, toCsv } from './csv.js';
import type { Encoding } from './encoding.js';
import type { Format } from './list-query.js';
import type { Snapshot } from './snapshot.js';

/** So many accounts are written in one go, in a few milliseconds. */
const CHUNK = 100;
/** A caller who takes nothing for so long is left. */
const STALLED_MS = 60_000;

export type StreamFormat = Exclude<Format, 'json'>;

/**
 * The accounts at these positions as CSV or NDJSON, compressed as asked, made no faster than they are read. Destroying it
 * ends all work for it; it is destroyed by itself when nothing is read for a minute.
 */
export function createAccountStream(
  snapshot: Snapshot,
  positions: Uint32Array,
  format: StreamFormat,
  encoding: Encoding,
): Readable {
  const plain = Readable.from(
    toChunks(snapshot, positions, format, () => stalled.refresh()),
    { objectMode: false },
  );
  const stalled = setTimeout(() => plain.destroy(new Error('nothing was read for a minute')), STALLED_MS);
  plain.once('close', () => clearTimeout(stalled));
  if (encoding === 'identity') return plain;
  const compressed =
    encoding === 'br' ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : createGzip();
  return pipeline(plain, compressed, () => undefined);
}

async function* toChunks(
  { accounts, asOf }: Snapshot,
  positions: Uint32Array,
  format: StreamFormat,
  onChunk: () => void,
): AsyncGenerator<Buffer> {
  if (format === 'csv') yield Buffer.from(CSV_HEAD);
  for (let start = 0; start < positions.length; start += CHUNK) {
    // a fast reader must not keep the event loop to himself
    await turn();
    onChunk();
    const members = Array.from(positions.subarray(start, start + CHUNK), (position) => accounts[position] as Account);
    yield Buffer.from(
      format === 'csv' ? toCsv(members, asOf) : members.map((account) => `${JSON.stringify(account)}\n`).join(''),
    );
  }
}
