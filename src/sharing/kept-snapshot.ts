import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import type { SnapshotCache } from '../snapshot/snapshot-cache.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import type { FleetKeys } from './fleet-keys.js';
import { Refused } from './sealing.js';
import { readSnapshotFile, removeSnapshotFile, writeSnapshotFile } from './snapshot-file.js';

const WRITE_EVERY_MS = 10_000;

interface Parts {
  readonly path: string;
  readonly snapshots: Pick<SnapshotCache, 'listen' | 'restore'>;
  /** Of the identity in use. */
  readonly keys: () => FleetKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Older ones may not be served. */
  readonly maxAgeMs: number;
}

/**
 * Keeps the last snapshot in SNAPSHOT_FILE over restarts (docs/fleet.md#the-snapshot-file): written beside the path of
 * callers, every 10 s at most and once more at a stop; given to the cache before the app opens.
 */
export class KeptSnapshot implements OnModuleInit, OnApplicationShutdown {
  readonly #parts: Parts;
  #pending: Snapshot | null = null;
  #restored: Snapshot | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** What is done with the file, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #writtenAt = -Infinity;
  #failing = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async onModuleInit(): Promise<void> {
    const { path, keys, clock, maxAgeMs, snapshots, logger } = this.#parts;
    try {
      this.#restored = await readSnapshotFile(path, keys(), clock, maxAgeMs);
      if (this.#restored) snapshots.restore(this.#restored);
    } catch (error) {
      const reason = error instanceof Refused ? error.reason : 'unreadable';
      logger.warn({ event: 'sharing.refused', what: 'file', reason }, `SNAPSHOT_FILE is ignored: it is ${reason}`);
    }
    snapshots.listen({ onSnapshot: (snapshot) => this.#take(snapshot), onDropped: () => this.remove() });
  }

  /** Writes what has yet to be written. */
  async onApplicationShutdown(): Promise<void> {
    this.#write();
    await this.#work;
  }

  /** Removes the file, and what was about to be written. */
  remove(): void {
    this.#clear();
    this.#do(() => removeSnapshotFile(this.#parts.path));
  }

  #take(snapshot: Snapshot): void {
    if (snapshot === this.#restored) return;
    this.#clear();
    this.#pending = snapshot;
    const inMs = Math.max(0, this.#writtenAt + WRITE_EVERY_MS - performance.now());
    this.#timer = setTimeout(() => this.#write(), inMs).unref();
  }

  #write(): void {
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = null;
    this.#clear();
    this.#writtenAt = performance.now();
    this.#do(() => writeSnapshotFile(this.#parts.path, pending, this.#parts.keys()));
  }

  #clear(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#pending = null;
  }

  #do(work: () => Promise<void>): void {
    const { logger } = this.#parts;
    this.#work = this.#work.then(work).then(
      () => {
        if (this.#failing) logger.info({ event: 'sharing.recovered', what: 'file' }, 'SNAPSHOT_FILE is written again');
        this.#failing = false;
      },
      (error: NodeJS.ErrnoException) => {
        const reason = error.code ?? 'unknown';
        if (!this.#failing)
          logger.warn(
            { event: 'sharing.unavailable', what: 'file', reason },
            `SNAPSHOT_FILE cannot be written (${reason})`,
          );
        this.#failing = true;
      },
    );
  }
}
