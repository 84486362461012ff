import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const STDOUT = 1;
/** Lines wait this long for others, to be written together: one at a time costs as much as a small answer. */
const GATHER_MS = 20;
const GATHER_CHARACTERS = 16_000;
/** Characters that may wait for a reader; beyond it lines are dropped. */
const MAX_WAITING_CHARACTERS = 16_000_000;
const LINE_END = 10;
const FLUSH_WITHIN_MS = 1000;

let output: StandardOutput | null = null;

/**
 * Standard output, written in the background. When it is gone, so are the log lines: the service continues without, and
 * ends as usual. pino's own destination does not: at exit it retries its last lines for ever, on a full disk (ENOSPC) and
 * for a reader that no longer reads.
 */
export function standardOutput(): StandardOutput {
  output ??= new StandardOutput();
  return output;
}

/** Log lines that this process has lost. */
export const countLostLines = (): number => output?.lost ?? 0;

class StandardOutput implements DestinationStream {
  #gathered = '';
  #writing = Buffer.alloc(0);
  #timer: NodeJS.Timeout | null = null;
  #reported = false;
  #lost = 0;
  #onIdle: (() => void)[] = [];

  constructor() {
    process.once('exit', () => this.#writeRest());
  }

  write(line: string): void {
    if (this.#gathered.length > MAX_WAITING_CHARACTERS) {
      this.#lost += 1;
      return;
    }
    this.#gathered += line;
    this.#gather();
  }

  /** Lines that were lost, since they could not be written or nobody read. */
  get lost(): number {
    return this.#lost;
  }

  /** Calls back when everything is written, or cannot be. */
  flush(done: () => void): void {
    const limit = setTimeout(done, FLUSH_WITHIN_MS);
    this.#onIdle.push(() => {
      clearTimeout(limit);
      done();
    });
    this.#next();
  }

  #gather(): void {
    if (this.#gathered.length > GATHER_CHARACTERS) this.#next();
    else this.#timer ??= setTimeout(() => this.#next(), GATHER_MS).unref();
  }

  #next(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#writing.length > 0) return;
    if (this.#gathered === '') {
      for (const done of this.#onIdle.splice(0)) done();
      return;
    }
    this.#writing = Buffer.from(this.#gathered);
    this.#gathered = '';
    this.#write();
  }

  #write(): void {
    write(STDOUT, this.#writing, (error, written) => {
      if (error?.code === 'EAGAIN') {
        // a reader that no longer reads must not delay the end of the process
        setTimeout(() => this.#write(), GATHER_MS).unref();
        return;
      }
      if (error) {
        this.#lost += countLines(this.#writing);
        this.#report(error);
      }
      this.#writing = error ? Buffer.alloc(0) : this.#writing.subarray(written);
      if (this.#writing.length > 0) this.#write();
      else if (this.#gathered === '' || this.#onIdle.length > 0) this.#next();
      else this.#gather();
    });
  }

  #report({ code }: NodeJS.ErrnoException): void {
    if (this.#reported) return;
    this.#reported = true;
    process.stderr.write(`accounts-gateway: standard output cannot be written (${code}); going on without log lines\n`);
  }

  /** The process ends here and now: what is under way has been handed to the system. */
  #writeRest(): void {
    if (this.#gathered === '') return;
    try {
      writeSync(STDOUT, this.#gathered);
    } catch {
      // nobody is left to report it to
    }
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) lines += 1;
  return lines;
}
