import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { readSmallFile } from '../config/small-file.js';
import { PROBLEMS } from '../errors/problem-table.js';
import type { Snapshot } from '../list/snapshot.js';
import { later, type Clock } from '../time/clock.js';
import { open, readHeader, Refused, seal, type Group } from './sealing.js';

const WRITE_EVERY_MS = 10_000;
/** Limit of the file, bytes. Only a list near its own limit (600 MB) needs more: it is read anew after a restart. */
const MAX_FILE_BYTES = 512 * 1_048_576;
/** Tolerance for copies dated in the future, ms. Beyond it, the clock was set back, and the age of a copy is unknown. */
const CLOCK_MAY_DIFFER_MS = 10_000;

/** The last snapshot in SNAPSHOT_FILE, over restarts (docs/fleet.md#the-snapshot-file). Failures are logged, never thrown. */
export class SnapshotFile {
  /** Pending snapshot, written when the timer fires. */
  #pending: Snapshot | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writtenAt = -Infinity;
  /** Work on the file, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #failing: string | null = null;

  /** @param maxAgeMs copies older than this are not served */
  constructor(
    private readonly path: string,
    private readonly group: () => Promise<Group>,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly maxAgeMs: number,
  ) {}

  /** Reads the copy of an earlier run; null without one that may be served. Its age goes by the machine's wall clock. */
  async read(): Promise<Snapshot | null> {
    if (!existsSync(this.path)) return null;
    try {
      const sealed = readSmallFile(this.path, MAX_FILE_BYTES);
      const group = await this.group();
      const now = this.clock.now();
      const ageMs = now.wall - readHeader(sealed, group).asOfMs;
      if (ageMs > this.maxAgeMs || ageMs < -CLOCK_MAY_DIFFER_MS) throw new Refused('too-old');
      const snapshot = await open(sealed, later(now, -ageMs), group);
      const { size: accounts, complete } = snapshot;
      this.logger.info({ event: 'snapshot.refreshed', accounts, complete, source: 'file' }, 'accounts restored');
      return snapshot;
    } catch (error) {
      const reason = error instanceof Refused ? error.reason : 'unreadable';
      this.logger.warn({ event: 'sharing.refused', what: 'file', reason }, `SNAPSHOT_FILE is ignored: it is ${reason}`);
      return null;
    }
  }

  /** Writes a snapshot soon, at most every 10 s. */
  keep(snapshot: Snapshot): void {
    this.#pending = snapshot;
    const inMs = Math.max(0, this.#writtenAt + WRITE_EVERY_MS - performance.now());
    this.#timer ??= setTimeout(() => this.#writePending(), inMs).unref();
  }

  /** The reason why the file cannot be written, in a word; null if it can. */
  get failing(): string | null {
    return this.#failing;
  }

  /** Deletes the file, and discards any pending write. */
  remove(): void {
    this.#pending = null;
    this.#do(() => rm(this.path, { force: true }));
  }

  /** Writes what is pending. */
  async close(): Promise<void> {
    this.#writePending();
    await this.#work;
  }

  #writePending(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const snapshot = this.#pending;
    this.#pending = null;
    if (!snapshot) return;
    this.#writtenAt = performance.now();
    this.#do(async () => {
      const sealed = await seal(snapshot, snapshot.askedAt.wall, await this.group());
      await write(this.path, sealed);
    });
  }

  #do(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).then(
      () => this.#noteFailing(null),
      ({ code = 'unknown' }: NodeJS.ErrnoException) => this.#noteFailing(code),
    );
  }

  /** Logs each change. */
  #noteFailing(reason: string | null): void {
    const before = this.#failing;
    this.#failing = reason;
    if (reason !== null && before === null) {
      const code = 'snapshot-not-stored';
      const fields = { event: 'sharing.unavailable', what: 'file', code, owner: PROBLEMS[code].owner, reason };
      this.logger.error(fields, `SNAPSHOT_FILE cannot be written (${reason})`);
    }
    if (reason === null && before !== null) {
      this.logger.info({ event: 'sharing.recovered', what: 'file' }, 'SNAPSHOT_FILE can be written again');
    }
  }
}

/** Writes the file as a whole or not at all, even if the machine crashes. */
async function write(path: string, sealed: Buffer): Promise<void> {
  // during a rollout two processes may write it
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    // always a new file: an existing one could be a link, or readable by others
    await rm(temporary, { force: true });
    await writeFile(temporary, sealed, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
