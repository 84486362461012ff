import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { withOwner } from '../errors/problem-table.js';
import { whyNotWritten } from '../files/small-file.js';
import type { Clock } from '../time/clock.js';
import { HEADER_BYTES, CopyRejected, type Group } from './sealing.js';
import type { CopyState, Store } from './stored-source.js';

/** SNAPSHOT_FILE, dated by the machine's wall clock (docs/fleet.md#the-stored-copy). */
export class FileStore implements Store {
  readonly kind = 'file';
  readonly writeEveryMs = 10_000;
  failing: string | null = null;

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async inspect(): Promise<CopyState> {
    const at = this.clock.now();
    const [header, bytes] = await this.#read(HEADER_BYTES);
    return { at, nowMs: at.wall, bytes, header, leftMs: Infinity };
  }

  async load(_group: Group, { bytes }: CopyState): Promise<Buffer> {
    return (await this.#read(bytes))[0];
  }

  /** Writes the file atomically, even if the machine crashes. */
  async write(_group: Group, sealed: Buffer): Promise<void> {
    const temporary = `${this.path}.tmp`;
    try {
      // always a new file: an existing one could be a link, readable by others, or left by a killed process
      await rm(temporary, { force: true });
      await writeFile(temporary, sealed, { flag: 'wx', mode: 0o600, flush: true });
      await rename(temporary, this.path);
      this.#noteOutcome(null);
    } catch (error) {
      this.#noteOutcome(whyNotWritten(error));
      // fails too if the folder is the reason
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async drop(): Promise<void> {
    try {
      await rm(this.path, { force: true });
    } catch (error) {
      this.#noteOutcome(whyNotWritten(error));
      throw error;
    }
  }

  /** Reads the beginning and the size of the file; nothing and 0 without a file. @throws CopyRejected unreadable */
  async #read(maxBytes: number): Promise<[Buffer, number]> {
    try {
      // a FIFO must not hang the process
      await using file = await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await file.stat();
      if (!stats.isFile()) throw new Error('it is not a regular file');
      // an empty file is not a missing one: it has lost its content
      if (stats.size === 0) throw new Error('it is empty');
      const bytes = Buffer.alloc(Math.min(maxBytes, stats.size));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return [bytes.subarray(0, bytesRead), stats.size];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [Buffer.alloc(0), 0];
      throw new CopyRejected('unreadable', { cause: error });
    }
  }

  #noteOutcome(reason: string | null): void {
    if (reason === this.failing) return;
    this.failing = reason;
    if (reason === null) {
      this.logger.info({ event: 'sharing.recovered', what: 'file' }, 'SNAPSHOT_FILE can be written again');
      return;
    }
    this.logger.warn(
      { event: 'sharing.unavailable', what: 'file', ...withOwner('snapshot-not-stored'), reason },
      `SNAPSHOT_FILE cannot be written: ${reason}. After a restart, callers may wait for the bank`,
    );
  }
}
