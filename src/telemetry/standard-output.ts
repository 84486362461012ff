import { write } from 'node:fs';
import type { LogDestination } from './log.js';

const STDOUT = 1;
/** Maximum size of the lines that wait for a reader, in UTF-16 units: lines are nearly all ASCII. Further lines are dropped. */
const MAX_WAITING_BYTES = 16_000_000;
/** Time until a full pipe is tried again, ms. */
const RETRY_MS = 50;

let lost = 0;

/** Log lines that this process dropped, because nobody read them or they could not be written. */
export const countLostLines = (): number => lost;

/**
 * Standard output, written in the background: lines wait only for the write before them. Without a reader or on a full disk
 * the service goes on, and ends as usual. pino's own destination measures all waiting text anew for each line.
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

  /** @param rest text; bytes, after a part of it was written. A text costs less: it gets no buffer outside the heap. */
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
