import { write } from 'node:fs';
import type { LogDestination } from './log.js';

const STDOUT = 1;
/**
 * Maximum size of the lines waiting for a reader, in UTF-16 units: nearly all lines are ASCII. Further lines are
 * dropped.
 */
const MAX_WAITING_BYTES = 16_000_000;
/** Time until the next attempt to write to a full pipe, ms. */
const RETRY_MS = 50;

let lost = 0;

/** Number of log lines dropped by this process because nobody read them or writing failed. */
export const countLostLines = (): number => lost;

/**
 * Standard output, written in the background: lines wait only for the previous write. Without a reader or with a full
 * disk, the service continues, and stops as usual.
 */
export function openStandardOutput(): LogDestination {
  let waiting: string[] = [];
  let length = 0;
  let isWriting = false;
  let hasFailed = false;
  let onFlushed: (() => void)[] = [];

  return {
    write(line) {
      if (length + line.length > MAX_WAITING_BYTES) {
        lost += 1;
        return;
      }
      waiting.push(line);
      length += line.length;
      if (!isWriting) writeNext();
    },
    flush(done) {
      onFlushed.push(done);
      if (!isWriting) writeNext();
    },
  };

  function writeNext(): void {
    const lines = waiting;
    waiting = [];
    isWriting = lines.length > 0;
    if (isWriting) {
      const text = lines.join('');
      writeAll(text, { lines: lines.length, length: text.length });
      return;
    }
    const flushed = onFlushed;
    onFlushed = [];
    for (const done of flushed) done();
  }

  /**
   * @param rest a string; bytes after part of it was written. A string is cheaper: it needs no buffer outside the heap.
   */
  function writeAll(rest: string | Buffer, batch: { readonly lines: number; readonly length: number }): void {
    if (typeof rest === 'string') write(STDOUT, rest, onWritten);
    else write(STDOUT, rest, onWritten);

    function onWritten(error: NodeJS.ErrnoException | null, written: number): void {
      if (error?.code === 'EAGAIN') {
        setTimeout(writeAll, RETRY_MS, rest, batch);
        return;
      }
      if (error) {
        lost += batch.lines;
        reportOnce(error);
      } else if (written < Buffer.byteLength(rest)) {
        const bytes = typeof rest === 'string' ? Buffer.from(rest) : rest;
        writeAll(bytes.subarray(written), batch);
        return;
      }
      length -= batch.length;
      writeNext();
    }
  }

  function reportOnce({ code }: NodeJS.ErrnoException): void {
    if (hasFailed) return;
    hasFailed = true;
    process.stderr.write(
      `accounts-gateway: standard output cannot be written (${code}); continuing without log lines\n`,
    );
  }
}
