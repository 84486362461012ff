import type { Logger } from 'pino';
import type { IdentityHolder } from '../auth/identity-holder.js';
import type { Settings } from '../config/settings.js';
import { readSnapshotKey } from '../config/small-file.js';
import type { SnapshotSource } from '../list/snapshot-source.js';
import type { Clock } from '../time/clock.js';
import { FileSource } from './file-source.js';
import { RedisConnection } from './redis-connection.js';
import { RedisSource } from './redis-source.js';
import { RedisStore } from './redis-store.js';
import { toGroup } from './sealing.js';
import { Sharing } from './sharing.js';
import { SnapshotFile } from './snapshot-file.js';

interface SharingParts {
  readonly bank: SnapshotSource;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identities: Pick<IdentityHolder, 'current'>;
}

/** Puts Redis and the file around the bank, as the settings say. */
export async function createSharing({ bank, settings, clock, logger, identities }: SharingParts): Promise<Sharing> {
  const { REDIS_URL, SNAPSHOT_FILE: path, SNAPSHOT_KEY_FILE: keyFile, SNAPSHOT_MAX_AGE_MS: maxAgeMs } = settings;
  const ownKey = keyFile === undefined ? null : readSnapshotKey(keyFile);
  const group = () => toGroup(identities.current.material, settings, ownKey);
  let source = bank;
  let redis: RedisSource | null = null;
  if (REDIS_URL !== undefined) {
    const connection = new RedisConnection({ ...settings, REDIS_URL }, logger, clock);
    await connection.connect();
    const store = new RedisStore(connection, settings, clock, logger);
    redis = new RedisSource(source, { connection, store, group, clock, logger, settings });
    source = redis;
  }
  if (path === undefined) return new Sharing(source, redis, null);
  const file = new SnapshotFile(path, group, clock, logger, maxAgeMs);
  return new Sharing(new FileSource(source, file), redis, file);
}
