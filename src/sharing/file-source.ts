import { constants } from 'node:fs';
import { open as openFile, readdir, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ListEnded } from '../snapshot/list-thread.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import {
  SnapshotSource,
  type ReadSnapshot,
  type RefreshRequest,
  type SharingStatus,
} from '../snapshot/snapshot-source.js';
import { later, type Clock } from '../time/clock.js';
import { HEADER_BYTES, open, readHeader, Refused, seal, type Group } from './sealing.js';
import { toSnapshot } from './stored-snapshot.js';

const WRITE_EVERY_MS = 10_000;
/** Limit of the file, bytes. Only a list near its own limit (600 MB) needs more: after a restart it is read from the bank. */
const MAX_FILE_BYTES = 512 * 1_048_576;
/** Tolerance for copies dated in the future, ms. Beyond it, the clock was set back, and the age of a copy is unknown. */
const CLOCK_MAY_DIFFER_MS = 10_000;
/** Temporary files this old belong to no process that is still writing. */
const ABANDONED_AFTER_MS = 60_000;

/**
 * Keeps the snapshots of another source in SNAPSHOT_FILE, over restarts (docs/fleet.md#the-snapshot-file). Failures of the
 * file are logged, never thrown.
 */
export class FileSource extends SnapshotSource {
  /** Pending snapshot, written when the timer fires. */
  #pending: Snapshot | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writtenAt = -Infinity;
  /** Work on the file, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #failing: string | null = null;

  constructor(
    private readonly source: SnapshotSource,
    private readonly path: string,
    private readonly group: () => Promise<Group>,
    private readonly settings: Pick<Settings, 'SNAPSHOT_MAX_AGE_MS'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  override async read(request: RefreshRequest): Promise<ReadSnapshot> {
    try {
      const read = await this.source.read(request);
      this.#keep(read.snapshot);
      return read;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'access-not-granted') this.#remove();
      throw error;
    }
  }

  override get isShared(): boolean {
    return this.source.isShared;
  }

  override async readShared(request: RefreshRequest): Promise<ReadSnapshot | null> {
    const read = await this.source.readShared(request);
    if (read) this.#keep(read.snapshot);
    return read;
  }

  /** Reads the copy of an earlier run; null without one that may be served. Its age goes by the machine's wall clock. */
  override async restore(): Promise<Snapshot | null> {
    await deleteAbandoned(this.path, this.clock.now().wall);
    let file: FileHandle | undefined;
    try {
      // a FIFO must not hang the process
      file = await openFile(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      const group = await this.group();
      const size = await sizeOf(file);
      const now = this.clock.now();
      // before the rest is read: it may be large, and of no use
      const ageMs = this.#ageOf(readHeader(await read(file, Math.min(size, HEADER_BYTES)), group).asOfMs, now.wall);
      const snapshot = await toSnapshot(await open(await read(file, size), group), later(now, -ageMs));
      const { size: accounts, complete } = snapshot;
      this.logger.info({ event: 'snapshot.refreshed', accounts, complete, source: 'file' }, 'accounts restored');
      return snapshot;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      const reason = error instanceof Refused ? error.reason : 'unreadable';
      this.logger.warn({ event: 'sharing.refused', what: 'file', reason }, `SNAPSHOT_FILE is ignored (${reason})`);
      return null;
    } finally {
      await file?.close();
    }
  }

  /** Age of a copy, ms; 0 for one that is slightly ahead of the clock. @throws Refused too-old */
  #ageOf(asOfMs: number, nowMs: number): number {
    const ageMs = nowMs - asOfMs;
    if (ageMs > this.settings.SNAPSHOT_MAX_AGE_MS || ageMs < -CLOCK_MAY_DIFFER_MS) throw new Refused('too-old');
    return Math.max(0, ageMs);
  }

  /** Writes what is pending. */
  override async close(): Promise<void> {
    this.#writePending();
    await Promise.all([this.#work, this.source.close()]);
  }

  override status(): SharingStatus {
    return { ...this.source.status(), file: { failing: this.#failing } };
  }

  /** Writes a snapshot soon, at most every 10 s. */
  #keep(snapshot: Snapshot): void {
    this.#pending = snapshot;
    const inMs = Math.max(0, this.#writtenAt + WRITE_EVERY_MS - performance.now());
    this.#timer ??= setTimeout(() => this.#writePending(), inMs).unref();
  }

  /** Deletes the file, and discards any pending write. */
  #remove(): void {
    this.#pending = null;
    this.#do(() => rm(this.path, { force: true }));
  }

  #writePending(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const snapshot = this.#pending;
    this.#pending = null;
    if (!snapshot) return;
    this.#writtenAt = performance.now();
    this.#do(async () => {
      const { list, durationMs, complete, askedAt } = snapshot;
      const json = await list.toJson(MAX_FILE_BYTES);
      // a larger one is read from the bank after a restart
      if (!json) return;
      const facts = { asOfMs: askedAt.wall, durationMs, complete };
      await write(this.path, await seal({ json, facts }, await this.group()));
      this.#noteOutcome(null);
    });
  }

  #do(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      // the snapshot was replaced meanwhile: the next one is written
      if (!(error instanceof ListEnded)) this.#noteOutcome(toReason(error));
    });
  }

  /** Logs each change. */
  #noteOutcome(reason: string | null): void {
    const before = this.#failing;
    this.#failing = reason;
    if (reason === before) return;
    if (reason === null) {
      this.logger.info({ event: 'sharing.recovered', what: 'file' }, 'SNAPSHOT_FILE can be written again');
    } else {
      this.logger.warn(
        { event: 'sharing.unavailable', what: 'file', code: 'snapshot-not-stored', owner: 'operator', reason },
        `SNAPSHOT_FILE cannot be written (${reason}): after a restart, callers wait for the bank`,
      );
    }
  }
}

const toReason = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** The size of a regular file that is not too large, bytes. @throws Error */
async function sizeOf(file: FileHandle): Promise<number> {
  const stats = await file.stat();
  if (!stats.isFile() || stats.size > MAX_FILE_BYTES) throw new Error('it is not a regular file, or too large');
  return stats.size;
}

/** Up to `length` bytes from the start of a file, in one buffer. */
async function read(file: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Deletes the temporary files of processes that were killed while they wrote. */
async function deleteAbandoned(path: string, nowMs: number): Promise<void> {
  const [directory, prefix] = [dirname(path), `${basename(path)}.`];
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^\d+\.tmp$/.test(name.slice(prefix.length))) continue;
    const file = join(directory, name);
    const stats = await stat(file).catch(() => null);
    if (stats && nowMs - stats.mtimeMs > ABANDONED_AFTER_MS) await rm(file, { force: true }).catch(() => undefined);
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
