import type { OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { IdentityHolder } from '../auth/identity-holder.js';
import type { Settings } from '../config/settings.js';
import { readSnapshotKey } from '../config/small-file.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Freshness } from '../snapshot/freshness.js';
import type { ReadSnapshot, SnapshotReader } from '../list/snapshot-reader.js';
import type { Snapshot } from '../list/snapshot.js';
import type { Clock } from '../time/clock.js';
import { Fleet } from './fleet.js';
import { RedisConnection } from './redis-connection.js';
import { RedisStore } from './redis-store.js';
import { toGroup } from './sealing.js';
import { SnapshotFile } from './snapshot-file.js';

/** Snapshots that other instances have read, through Redis, and an earlier run, through a file (docs/fleet.md). */
export class SharedSnapshots implements OnApplicationShutdown {
  /** Snapshots since the start, by source. */
  readonly counts = { bank: 0, shared: 0, file: 0 };

  /** @param fleet null without REDIS_URL, @param file null without SNAPSHOT_FILE */
  private constructor(
    private readonly fleet: Fleet | null,
    private readonly file: SnapshotFile | null,
  ) {}

  /** Connects to Redis, waiting at most 1.2 s. */
  static async start(settings: Settings, clock: Clock, logger: Logger, identities: IdentityHolder) {
    const { REDIS_URL, SNAPSHOT_FILE: path, SNAPSHOT_KEY_FILE: keyFile, SNAPSHOT_MAX_AGE_MS: maxAgeMs } = settings;
    const ownKey = keyFile === undefined ? null : readSnapshotKey(keyFile);
    const group = () => toGroup(identities.current.material, settings, ownKey);
    const file = path === undefined ? null : new SnapshotFile(path, group, clock, logger, maxAgeMs);
    if (REDIS_URL === undefined) return new SharedSnapshots(null, file);
    const connection = new RedisConnection({ ...settings, REDIS_URL }, logger);
    await connection.connect();
    const store = new RedisStore(connection, settings, clock, logger);
    return new SharedSnapshots(new Fleet(connection, store, group, clock, settings), file);
  }

  /** The copy of an earlier run; null without one that may be served. */
  async restore(): Promise<Snapshot | null> {
    const snapshot = (await this.file?.read()) ?? null;
    if (snapshot) this.counts.file += 1;
    return snapshot;
  }

  /**
   * Takes an acceptable copy of another instance, or reads from the bank.
   * @throws what `reader.read` throws, or the reason of `signal`
   */
  async read(
    reader: Pick<SnapshotReader, 'read'>,
    refreshId: string,
    signal: AbortSignal,
    wanted: Freshness,
  ): Promise<ReadSnapshot> {
    try {
      const read = await (this.fleet?.read(reader, refreshId, signal, wanted) ?? reader.read(refreshId, signal));
      this.counts[read.source ?? 'bank'] += 1;
      this.file?.keep(read.snapshot);
      return read;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'access-not-granted') this.file?.remove();
      throw error;
    }
  }

  /** null without REDIS_URL. */
  status() {
    return this.fleet?.status() ?? null;
  }

  /** The reason why SNAPSHOT_FILE cannot be written, in a word; null if it can, or without one. */
  get fileFailing(): string | null {
    return this.file?.failing ?? null;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.fleet?.close(), this.file?.close()]);
  }
}
