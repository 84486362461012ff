import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Clock } from '../time/clock.js';
import { Settings } from '../config/settings.js';
import { readSnapshotKey } from '../config/snapshot-key.js';
import { Log } from '../logging/logging.js';
import { SnapshotCache } from '../snapshot/snapshot-cache.js';
import { SnapshotModule } from '../snapshot/snapshot.module.js';
import type { KeptSnapshot } from './kept-snapshot.js';
import type { Sharing } from './sharing.js';

const KEPT = Symbol('KeptSnapshot');

/** What is shared with other instances by Redis, and kept over restarts in a file; without settings for them, nothing. */
@Module({})
export class SharingModule {
  static register(sharing: Sharing | null): DynamicModule {
    return {
      module: SharingModule,
      imports: [SnapshotModule, AuthModule],
      providers: [
        { provide: KEPT, useFactory: keepSnapshot, inject: [Settings, Clock, Log, SnapshotCache, IdentityHolder] },
        {
          provide: Symbol('FleetMember'),
          useFactory: async (snapshots: SnapshotCache, identities: IdentityHolder, kept: KeptSnapshot | null) => {
            if (!sharing) return null;
            const { FleetMember } = await import('./fleet-member.js');
            return new FleetMember(sharing.fleet, snapshots, identities, () => kept?.remove());
          },
          inject: [SnapshotCache, IdentityHolder, KEPT],
        },
      ],
    };
  }
}

async function keepSnapshot(
  settings: Settings,
  clock: Clock,
  { logger }: Log,
  snapshots: SnapshotCache,
  identities: IdentityHolder,
): Promise<KeptSnapshot | null> {
  const { SNAPSHOT_FILE: file, SNAPSHOT_KEY_FILE: keyFile } = settings;
  if (file === undefined) return null;
  const [{ KeptSnapshot }, { toFleetKeys }] = await Promise.all([
    import('./kept-snapshot.js'),
    import('./fleet-keys.js'),
  ]);
  const ownKey = keyFile === undefined ? null : readSnapshotKey(keyFile);
  return new KeptSnapshot({
    path: file,
    snapshots,
    keys: () => toFleetKeys(identities.current.material, settings, ownKey),
    clock,
    logger,
    maxAgeMs: Math.max(settings.SNAPSHOT_MAX_AGE_MS, settings.SNAPSHOT_FRESH_MS),
  });
}
