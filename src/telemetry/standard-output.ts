import { pino } from 'pino';
import type { LogDestination } from './log.js';

const STDOUT = 1;
/** Maximum size of the lines that wait for a reader, bytes; further lines are dropped. */
const MAX_WAITING_BYTES = 16_000_000;

let lost = 0;

/** Log lines that this process dropped, because nobody read them or they could not be written. */
export const countLostLines = (): number => lost;

/**
 * Standard output, written in the background: lines wait only for the write before them. Without a reader or on a full disk
 * the service goes on, and ends as usual.
 */
export function openStandardOutput(): LogDestination {
  const destination = pino.destination({ fd: STDOUT, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES });
  // at exit pino would retry the last lines for ever, on a full disk and for a reader that no longer reads
  process.prependOnceListener('exit', () => destination.destroy());
  destination.on('drop', () => (lost += 1));
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    // pino has replaced `write` by one that does nothing
    if (code === 'EPIPE') destination.write = () => (lost += 1) > 0;
  });
  destination.once('error', ({ code }: NodeJS.ErrnoException) => {
    process.stderr.write(
      `accounts-gateway: standard output cannot be written (${code}); continuing without log lines\n`,
    );
  });
  return destination;
}
