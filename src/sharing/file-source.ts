import { GatewayError } from '../errors/gateway-error.js';
import type { Snapshot } from '../list/snapshot.js';
import { SnapshotSource, type ReadSnapshot, type RefreshRequest } from '../list/snapshot-source.js';
import type { SnapshotFile } from './snapshot-file.js';

/** Keeps the snapshots of another source in SNAPSHOT_FILE, over restarts. */
export class FileSource extends SnapshotSource {
  constructor(
    private readonly source: SnapshotSource,
    private readonly file: SnapshotFile,
  ) {
    super();
  }

  override async read(request: RefreshRequest): Promise<ReadSnapshot> {
    try {
      const read = await this.source.read(request);
      this.file.keep(read.snapshot);
      return read;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'access-not-granted') this.file.remove();
      throw error;
    }
  }

  override restore(): Promise<Snapshot | null> {
    return this.file.read();
  }

  override async close(): Promise<void> {
    await Promise.all([this.file.close(), this.source.close()]);
  }
}
