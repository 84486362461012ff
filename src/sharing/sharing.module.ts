import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { readSealingKey } from '../config/small-file.js';
import { Log } from '../logging/logging.js';
import { SnapshotKeeper } from '../snapshot/snapshot-keeper.js';
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
        { provide: KEPT, useFactory: keepSnapshot, inject: [Settings, Clock, Log, SnapshotKeeper, IdentityHolder] },
        {
          provide: Symbol('FleetMember'),
          useFactory: async (keeper: SnapshotKeeper, identities: IdentityHolder, kept: KeptSnapshot | null) => {
            if (!sharing) return null;
            const { FleetMember } = await import('./fleet-member.js');
            return new FleetMember(sharing.fleet, keeper, identities, () => kept?.remove());
          },
          inject: [SnapshotKeeper, IdentityHolder, KEPT],
        },
      ],
    };
  }
}

async function keepSnapshot(
  { sharing, snapshot, bank }: Settings,
  clock: Clock,
  { logger }: Log,
  keeper: SnapshotKeeper,
  identities: IdentityHolder,
): Promise<KeptSnapshot | null> {
  const { file, keyFile } = sharing;
  if (file === null) return null;
  const [{ KeptSnapshot }, { toFleetKeys }] = await Promise.all([
    import('./kept-snapshot.js'),
    import('./fleet-keys.js'),
  ]);
  const ownKey = keyFile === null ? null : readSealingKey(keyFile);
  return new KeptSnapshot({
    path: file,
    keeper,
    keys: () => toFleetKeys(identities.current.material, bank, ownKey),
    clock,
    logger,
    lastAgeMs: Math.max(snapshot.staleMs, snapshot.freshMs),
  });
}
