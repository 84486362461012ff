import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { BankModule } from '../bank/bank.module.js';
import { Settings } from '../config/settings.js';
import { readSnapshotKey } from '../files/small-file.js';
import { BankSource } from '../snapshot/bank-source.js';
import { SnapshotSource } from '../snapshot/snapshot-source.js';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';

/** Injection token for the maximum time that a request waits for Redis, ms; `undefined` for the default. */
export const REDIS_WAIT_MS = Symbol('REDIS_WAIT_MS');

/** The configured source of snapshots: the bank, alone or with a stored copy in Redis or a file (docs/fleet.md). */
@Module({
  imports: [AuthModule, BankModule],
  providers: [
    BankSource,
    {
      provide: SnapshotSource,
      useFactory: createSource,
      inject: [BankSource, Settings, Clock, Log, IdentityHolder, REDIS_WAIT_MS],
    },
  ],
  exports: [SnapshotSource],
})
export class SharingModule {}

/** Connects to Redis, waiting at most 1.5 s. Without REDIS_URL and SNAPSHOT_FILE, their code is not loaded. */
async function createSource(
  bank: BankSource,
  settings: Settings,
  clock: Clock,
  { logger }: Log,
  identities: IdentityHolder,
  redisWaitMs: number | undefined,
): Promise<SnapshotSource> {
  const { REDIS_URL, SNAPSHOT_FILE: path, SNAPSHOT_KEY_FILE: keyFile } = settings;
  const ownKey = keyFile === undefined ? null : readSnapshotKey(keyFile);
  const group = async () => (await import('./sealing.js')).toGroup(identities.current.material, settings, ownKey);
  const parts = { group, settings, clock, logger };
  if (REDIS_URL !== undefined) {
    const unused = 'SNAPSHOT_FILE is not used with REDIS_URL: Redis has the stored copy';
    if (path !== undefined) logger.warn({ event: 'config.warning' }, unused);
    const { RedisSource } = await import('./redis-source.js');
    return RedisSource.connect(bank, { ...settings, REDIS_URL }, parts, redisWaitMs);
  }
  if (path === undefined) return bank;
  const { FileStore } = await import('./file-store.js');
  const { StoredSource } = await import('./stored-source.js');
  return new StoredSource(bank, new FileStore(path, clock, logger), parts);
}
