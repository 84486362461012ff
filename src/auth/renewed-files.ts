import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';
import { FileUnusable, readSmallFile } from '../files/small-file.js';
import { BackOff } from '../time/back-off.js';
import type { Clock } from '../time/clock.js';

interface RenewedFilesOptions<T> {
  readonly files: readonly string[];
  readonly clock: Clock;
  /** Reads and checks all the files. @throws Error if they cannot be used */
  read(): T | Promise<T>;
  /** Puts the value into use, unless it already is. @throws Error if that fails */
  use(value: T, signal: AbortSignal): void | Promise<void>;
  /**
   * Called when the error message changes, and again after a change of the files or `reload`. `value` is null if the
   * files could not be read.
   */
  rejected(error: GatewayError, value: T | null): void;
}

/** Changes take effect within 5 s (docs/certificates.md#renew-the-certificate). */
const POLL_EVERY_MS = 1000;

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
 * stays in use, each new reason is reported, and the files are tried again after each back-off, because the reason may
 * go away without a change: too many open files, or a bank that does not know the certificate yet.
 */
export class RenewedFiles<T> {
  /** The contents of the files when they were last read, and at the last poll. */
  #known: string;
  #polled: string;
  /** Undefined before `open` and after `close`. */
  #timer: NodeJS.Timeout | undefined;
  #attempt = new AbortController();
  #running: Promise<void> | null = null;
  /** Content that is not in use yet; its value is null if it could not be read. */
  #waiting: { readonly value: T | null; readonly backOff: BackOff } | null = null;
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

  /** The newer content that is not in use, with its last error; null if there is none. */
  get waiting() {
    const trouble = this.#waiting?.backOff.trouble();
    return this.#waiting && trouble ? { value: this.#waiting.value, error: trouble.error, since: trouble.since } : null;
  }

  /** Tries the files now, and ends a running attempt. Resolves once they are in use or rejected; never rejects. */
  reload(): Promise<void> {
    this.#reported = null;
    this.#attempt.abort();
    this.#attempt = new AbortController();
    return this.#begin();
  }

  /** Tries the waiting files now, or awaits a running attempt. Resolves as `reload`; at once without either. */
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
    if (contents === this.#known) {
      if (this.#waiting && !this.#running && !this.#waiting.backOff.failureNow()) void this.#begin();
    } else if (isStill) {
      // until then, they may still be written
      void this.reload();
    }
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
      if (!signal.aborted) this.#reject(toUnusable(error), value);
    }
  }

  #reject(error: GatewayError, value: T | null): void {
    const { clock, rejected } = this.options;
    if (!this.#waiting || !isDeepStrictEqual(this.#waiting.value, value)) {
      this.#waiting = { value, backOff: new BackOff(clock) };
    }
    this.#waiting.backOff.failed(error);
    if (this.#reported === error.detail) return;
    this.#reported = error.detail;
    rejected(error, value);
  }
}

/** The error of files that cannot be used, `certificate-unusable`; any other as `toGatewayError`. */
export function toUnusable(error: unknown): GatewayError {
  const isBadFile = error instanceof CertificateUnreadable || error instanceof FileUnusable;
  return isBadFile ? new GatewayError('certificate-unusable', error.message) : toGatewayError(error);
}
