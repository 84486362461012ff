import sonicBoom from 'sonic-boom';
import type { LogDestination } from './log.js';

/** Maximum size of the lines waiting for a reader, in bytes. Further lines are dropped. */
const MAX_WAITING_BYTES = 16_000_000;

let lost = 0;

/** Number of log lines that were dropped because nobody read them, or that could not be written when they were logged. */
export const countLostLines = (): number => lost;

/**
 * Standard output, written in the background. Without a reader or with a full disk, the service continues, and stops as
 * usual.
 */
export function openStandardOutput(): LogDestination {
  // with a minimum of 0, flush would not wait
  const output = new sonicBoom.SonicBoom({ fd: 1, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES });
  output.on('drop', () => (lost += 1));
  output.on('error', () => (lost += 1));
  output.once('error', ({ code }: NodeJS.ErrnoException) =>
    process.stderr.write(
      `accounts-gateway: standard output cannot be written (${code}); continuing without log lines\n`,
    ),
  );
  return output;
}
