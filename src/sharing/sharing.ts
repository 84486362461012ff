import type { Snapshot } from '../list/snapshot.js';
import { SnapshotSource, type ReadSnapshot, type RefreshRequest } from '../list/snapshot-source.js';
import type { RedisSource } from './redis-source.js';
import type { SnapshotFile } from './snapshot-file.js';

/** The source of snapshots as it is configured: the bank, shared through Redis, kept in a file (docs/fleet.md). */
export class Sharing extends SnapshotSource {
  /** Snapshots since the start, by source. */
  readonly counts = { bank: 0, shared: 0, file: 0 };

  /** @param redis null without REDIS_URL, @param file null without SNAPSHOT_FILE */
  constructor(
    private readonly source: SnapshotSource,
    private readonly redis: RedisSource | null,
    private readonly file: SnapshotFile | null,
  ) {
    super();
  }

  /** True with REDIS_URL or SNAPSHOT_FILE. */
  get isConfigured(): boolean {
    return this.redis !== null || this.file !== null;
  }

  override async read(request: RefreshRequest): Promise<ReadSnapshot> {
    const read = await this.source.read(request);
    this.counts[read.source] += 1;
    return read;
  }

  override async restore(): Promise<Snapshot | null> {
    const snapshot = await this.source.restore();
    if (snapshot) this.counts.file += 1;
    return snapshot;
  }

  override close(): Promise<void> {
    return this.source.close();
  }

  status() {
    return {
      /** Null without REDIS_URL. */
      redis: this.redis?.status() ?? null,
      /** Null without SNAPSHOT_FILE; `failing` is the reason why it cannot be written, one word. */
      file: this.file && { failing: this.file.failing },
    };
  }
}
