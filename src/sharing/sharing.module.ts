import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Settings } from '../config/settings.js';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';
import type { SharedSnapshots } from './shared-snapshots.js';

/** Injects SharedSnapshots; null without REDIS_URL and SNAPSHOT_FILE, and none of its code is loaded then. */
export const SHARED_SNAPSHOTS = Symbol('SharedSnapshots');

/** The snapshot shared between instances and kept over restarts. */
@Module({
  imports: [AuthModule],
  providers: [{ provide: SHARED_SNAPSHOTS, useFactory: start, inject: [Settings, Clock, Log, IdentityHolder] }],
  exports: [SHARED_SNAPSHOTS],
})
export class SharingModule {}

async function start(
  settings: Settings,
  clock: Clock,
  { logger }: Log,
  identities: IdentityHolder,
): Promise<SharedSnapshots | null> {
  if (settings.REDIS_URL === undefined && settings.SNAPSHOT_FILE === undefined) return null;
  const sharing = await import('./shared-snapshots.js');
  return sharing.SharedSnapshots.start(settings, clock, logger, identities);
}
