import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Settings } from '../config/settings.js';
import { BankSource } from '../list/bank-source.js';
import { ListModule } from '../list/list.module.js';
import { SnapshotSource } from '../list/snapshot-source.js';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';
import { Sharing } from './sharing.js';

/** Snapshots shared between instances and kept over restarts: sources around the bank's. */
@Module({
  imports: [AuthModule, ListModule],
  providers: [
    { provide: Sharing, useFactory: startSharing, inject: [BankSource, Settings, Clock, Log, IdentityHolder] },
    { provide: SnapshotSource, useExisting: Sharing },
  ],
  exports: [Sharing, SnapshotSource],
})
export class SharingModule {}

/** Connects to Redis, waiting at most 1.2 s. Without REDIS_URL and SNAPSHOT_FILE none of their code is loaded. */
async function startSharing(
  bank: BankSource,
  settings: Settings,
  clock: Clock,
  { logger }: Log,
  identities: IdentityHolder,
): Promise<Sharing> {
  if (settings.REDIS_URL === undefined && settings.SNAPSHOT_FILE === undefined) return new Sharing(bank, null, null);
  const { createSharing } = await import('./create-sharing.js');
  return createSharing({ bank, settings, clock, logger, identities });
}
