import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type FileUnusable, readSmallFile } from './small-file.js';

interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

interface RenewedFilesOptions<T> {
  readonly files: readonly string[];
  readonly clock: { now(): Instant; since(then: Instant): number };
  /** Reads and checks all the files. @throws Error if they cannot be used */
  read(): T | Promise<T>;
  /**
   * Puts the value into use, unless it already is.
   * @throws Error if that fails: the files are tried again after the error's `retryAfterMs`, or a minute
   */
  use(value: T, signal: AbortSignal): void | Promise<void>;
  /**
   * Called once for each error message, and again after a change of the files or `reload`. `value` is null if the files
   * could not be read.
   */
  rejected(error: Error, value: T | null): void;
}

/** Content of the files that is not in use yet. */
interface Waiting<T> {
  /** Null if they could not be read. */
  readonly value: T | null;
  readonly error: Error;
  readonly since: Instant;
  readonly at: Instant;
}

/** Changes take effect within 5 s (docs/certificates.md#renew-the-certificate). */
const POLL_EVERY_MS = 1000;
/**
 * Interval at which unusable files are tried again: the reason may go away without a change of the files, for example
 * too many open files.
 */
const RETRY_MS = 60_000;

/** A digest of the files' contents; for an unreadable file, the reason instead. */
const toContents = (files: readonly string[]): string =>
  files
    .map((file) => {
      try {
        return hash('sha256', readSmallFile(file));
      } catch (error) {
        return (error as FileUnusable).reason;
      }
    })
    .join('\n');

/**
 * Polls files, and tries them when their contents change: reads, checks and uses them. If that fails, the current value
 * stays in use, the rejection is reported once, and the same timer tries again.
 */
export class RenewedFiles<T> {
  /** The contents of the files when they were last read, and at the last poll. */
  #known: string;
  #polled: string;
  /** Undefined before `open` and after `close`. */
  #timer: NodeJS.Timeout | undefined;
  #attempt = new AbortController();
  #running: Promise<void> | null = null;
  #waiting: Waiting<T> | null = null;
  #reported: string | null = null;

  constructor(private readonly options: RenewedFilesOptions<T>) {
    this.#known = this.#polled = toContents(options.files);
  }

  /** Reads the files for the first time, and follows them from then on. @throws what `read` throws */
  async open(): Promise<T> {
    const value = await this.options.read();
    this.#timer = setInterval(() => this.#tick(), POLL_EVERY_MS).unref();
    return value;
  }

  /** The newer content that is not in use; null if there is none. */
  get waiting(): Waiting<T> | null {
    return this.#waiting;
  }

  /** Tries the files now, and ends a running attempt. Resolves once they are in use or rejected; never rejects. */
  reload(): Promise<void> {
    this.#reported = null;
    this.#attempt.abort();
    this.#attempt = new AbortController();
    return this.#begin();
  }

  /** Tries the waiting files now. Resolves as `reload`; at once if none wait. */
  async retry(): Promise<void> {
    await (this.#running ?? (this.#waiting && this.#begin()));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#attempt.abort();
  }

  #tick(): void {
    const contents = toContents(this.options.files);
    // the process has too many open files, which is not caused by these
    if (/E[MN]FILE/.test(contents)) return;
    const isStill = contents === this.#polled;
    this.#polled = contents;
    if (contents !== this.#known) {
      // until then, they may still be written
      if (isStill) void this.reload();
      return;
    }
    if (!this.#waiting || this.#running) return;
    const { retryAfterMs = RETRY_MS } = this.#waiting.error as Error & { readonly retryAfterMs?: number };
    if (this.options.clock.since(this.#waiting.at) >= retryAfterMs) void this.#begin();
  }

  #begin(): Promise<void> {
    const running = this.#try(this.#attempt.signal).finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  async #try(signal: AbortSignal): Promise<void> {
    if (!this.#timer) return;
    let value: T | null = null;
    try {
      // before they are read, so that a change during the read is noticed
      this.#known = this.#polled = toContents(this.options.files);
      value = await this.options.read();
      signal.throwIfAborted();
      await this.options.use(value, signal);
      this.#waiting = null;
    } catch (error) {
      if (!signal.aborted) this.#reject(error as Error, value);
    }
  }

  #reject(error: Error, value: T | null): void {
    const at = this.options.clock.now();
    const before = this.#waiting;
    const since = before && isDeepStrictEqual(before.value, value) ? before.since : at;
    this.#waiting = { value, error, at, since };
    if (this.#reported === error.message) return;
    this.#reported = error.message;
    this.options.rejected(error, value);
  }
}
