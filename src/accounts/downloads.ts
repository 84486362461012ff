import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { GatewayError } from '../errors/gateway-error.js';
import { CallerLeft } from '../snapshot/snapshot-cache.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { nextTimeSlice, SLICE_MS } from '../time/time-slice.js';

const MAX_DOWNLOADS = 8;
const MAX_DURATION_MS = 120_000;
const RETRY_AFTER_MS = 5000;
const CHUNK_BYTES = 65_536;

/** Downloads of many accounts: at most 8 at once, each of at most 120 s. */
@Injectable()
export class Downloads {
  readonly #slots = pLimit(MAX_DOWNLOADS);

  /**
   * Waits for a slot, which is taken until the stream is closed. Aborting `signal`, as a caller who leaves does, destroys the
   * stream.
   * @throws GatewayError overloaded after `waitMs`; CallerLeft
   */
  async open(parts: Iterable<Buffer> | AsyncIterable<Buffer>, signal: AbortSignal, waitMs: number): Promise<Readable> {
    const { promise: begun, resolve: begin } = Promise.withResolvers<Readable>();
    // null for a caller who no longer waits: the queue must not keep its snapshot
    let wanted: typeof parts | null = parts;
    void this.#slots(async () => {
      if (!wanted || signal.aborted) return;
      const stream = toStream(wanted);
      const cutOff = setTimeout(() => stream.destroy(new Error('the download took too long')), MAX_DURATION_MS);
      signal.addEventListener('abort', () => stream.destroy(), { once: true });
      begin(stream);
      await finished(stream).catch(() => undefined);
      clearTimeout(cutOff);
    });
    const stream = await within(orAborted(begun, signal), waitMs).catch(() => null);
    wanted = null;
    if (stream === null) throw new CallerLeft();
    if (stream !== TIMED_OUT) return stream;
    throw new GatewayError('overloaded', `${MAX_DOWNLOADS} downloads are already running.`, {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

/** A long body, built only as fast as it is read, in chunks. Yields between them. */
export function toStream(parts: Iterable<Buffer> | AsyncIterable<Buffer>): Readable {
  return Readable.from(toChunks(parts), { objectMode: false, highWaterMark: CHUNK_BYTES });
}

async function* toChunks(parts: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  let since = performance.now();
  for await (const part of parts) {
    gathered.push(part);
    bytes += part.length;
    if (bytes >= CHUNK_BYTES) {
      yield Buffer.concat(gathered, bytes);
      gathered = [];
      bytes = 0;
      // one account may take milliseconds and produce few bytes
    } else if (performance.now() - since < SLICE_MS) continue;
    await nextTimeSlice();
    since = performance.now();
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes);
}
