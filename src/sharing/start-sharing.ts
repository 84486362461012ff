import type { Logger } from 'pino';
import type { IdentityHolder } from '../auth/identity-holder.js';
import type { Settings } from '../config/settings.js';
import { readSnapshotKey } from '../config/snapshot-key.js';
import type { Clock } from '../time/clock.js';
import { Fleet } from './fleet.js';
import { Groups } from './group.js';
import { RedisConnection } from './redis-connection.js';
import { RedisStore } from './redis-store.js';
import { SharedSnapshots } from './shared-snapshots.js';
import { SnapshotFile } from './snapshot-file.js';

/** Connects to Redis, waiting at most 1 s. */
export async function startSharing(
  settings: Settings,
  clock: Clock,
  logger: Logger,
  identities: IdentityHolder,
): Promise<SharedSnapshots> {
  const { REDIS_URL, REDIS_KEY_PREFIX: keyPrefix, SNAPSHOT_FILE: path, SNAPSHOT_KEY_FILE: keyFile } = settings;
  const groups = new Groups(identities, settings, keyFile === undefined ? null : readSnapshotKey(keyFile));
  const { SNAPSHOT_MAX_AGE_MS: maxAgeMs } = settings;
  const file = path === undefined ? null : new SnapshotFile({ path, groups, clock, logger, maxAgeMs });
  if (REDIS_URL === undefined) return new SharedSnapshots(null, file);
  const connection = new RedisConnection({ ...settings, REDIS_URL }, logger);
  await connection.connect();
  const store = new RedisStore({ connection, keyPrefix, clock, logger, maxAgeMs });
  return new SharedSnapshots(new Fleet(connection, store, groups, clock), file);
}
