import sonicBoom from 'sonic-boom';
import type { LogDestination } from './log.js';

/** Bytes of lines that wait for a reader. Further lines are dropped. */
const MAX_WAITING_BYTES = 16_000_000;
/** Characters. */
const BATCH_LENGTH = 8192;

let lost = 0;

/** Number of log lines dropped because nobody read them. A write that fails counts as one; its lines wait for the next. */
export const countLostLines = (): number => lost;

/**
 * Standard output, written in the background: the lines of each tick at once, because a write costs more than a line.
 * Without a reader or with a full disk, the service continues, and stops as usual.
 */
export function openStandardOutput(): LogDestination {
  // with a minimum of 0, flush would not wait
  const output = new sonicBoom.SonicBoom({ fd: 1, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES });
  output.on('drop', (lines: string) => (lost += lines.split('\n').length - 1));
  output.on('error', () => (lost += 1));
  output.once('error', ({ code }: NodeJS.ErrnoException) =>
    process.stderr.write(
      `accounts-gateway: standard output cannot be written (${code}); continuing without log lines\n`,
    ),
  );
  let lines: string[] = [];
  let length = 0;
  const writeLines = () => {
    if (lines.length > 0) output.write(lines.join(''));
    lines = [];
    length = 0;
  };
  return {
    write(line) {
      if (lines.push(line) === 1) setImmediate(writeLines);
      length += line.length;
      if (length >= BATCH_LENGTH) writeLines();
    },
    flush(done) {
      writeLines();
      output.flush(done);
    },
  };
}
