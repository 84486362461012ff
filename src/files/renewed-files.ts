import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
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
  isInUse(value: T): boolean;
  /**
   * Puts the value into use.
   * @throws Error if that fails: it is retried after the error's `retryAfterMs`, or a minute.
   */
  putIntoUse(value: T, signal: AbortSignal): void | Promise<void>;
  /** Called when the files were read again and their content is already in use. */
  unchanged?(): void;
  /**
   * Called once for each error message, and again after a change of the files or `reload`. `value` is null if the files
   * could not be read.
   */
  rejected(error: Error, value: T | null): void;
  readonly everyMs: number;
}

/** Content of the files that is not in use yet. */
interface Waiting<T> {
  /** Null if they could not be read. */
  readonly value: T | null;
  readonly error: Error;
  readonly since: Instant;
  readonly at: Instant;
}

/**
 * Interval at which unusable files are read again: the reason may go away without a change of the files, for example
 * too many open files, or a certificate that is not valid yet.
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
 * Polls files, and reads, checks and uses them when their contents change. If they are bad, the current value stays in
 * use, the rejection is reported once, and the same timer retries.
 */
export class RenewedFiles<T> {
  /** The contents of the files when they were last read, and at the last poll. */
  #known: string;
  #polled: string;
  #timer: NodeJS.Timeout | undefined;
  #attempt = new AbortController();
  readonly #oneAtATime = pLimit(1);
  #waiting: Waiting<T> | null = null;
  #reported: string | null = null;
  #isClosed = false;

  constructor(private readonly options: RenewedFilesOptions<T>) {
    this.#known = this.#polled = toContents(options.files);
  }

  /** Reads the files for the first time, and follows them from then on. @throws what `read` throws */
  async open(): Promise<T> {
    const value = await this.options.read();
    this.#timer = setInterval(() => this.#tick(), this.options.everyMs).unref();
    return value;
  }

  /** The newer content that is not in use; null if there is none. */
  get waiting(): Waiting<T> | null {
    return this.#waiting;
  }

  /** Reads the files now, and ends a running attempt. Resolves once they are in use or rejected; never rejects. */
  reload(): Promise<void> {
    this.#reported = null;
    this.#attempt.abort();
    this.#attempt = new AbortController();
    return this.#renew(null);
  }

  /** Tries again now to put the waiting content into use, if it could be read and no attempt is running. */
  retry(): void {
    const value = this.#waiting?.value;
    if (value && this.#oneAtATime.activeCount === 0) void this.#renew(value);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
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
    if (!this.#waiting || this.#oneAtATime.activeCount > 0) return;
    const { value, error, at } = this.#waiting;
    const { retryAfterMs = RETRY_MS } = error as Error & { readonly retryAfterMs?: number };
    if (this.options.clock.since(at) < retryAfterMs) return;
    void this.#renew(value);
  }

  /** @param known the current contents of the files; null to read them */
  #renew(known: T | null): Promise<void> {
    const { signal } = this.#attempt;
    return this.#oneAtATime(async () => {
      if (signal.aborted || this.#isClosed) return;
      const { read, isInUse, putIntoUse, unchanged } = this.options;
      let value = known;
      try {
        if (value === null) {
          // before they are read, so that a change during the read is noticed
          this.#known = this.#polled = toContents(this.options.files);
          value = await read();
          signal.throwIfAborted();
        }
        if (isInUse(value)) unchanged?.();
        else await putIntoUse(value, signal);
        this.#waiting = null;
      } catch (error) {
        if (!signal.aborted) this.#reject(error as Error, value);
      }
    });
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
