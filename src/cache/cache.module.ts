import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { SharingModule } from '../sharing/sharing.module.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { Refresher } from './refresher.js';
import { SnapshotService } from './snapshot-service.js';

/** The cached snapshot and its refreshes. */
@Module({
  imports: [AuthModule, SharingModule],
  providers: [CachedSnapshot, Refresher, SnapshotService],
  exports: [Refresher, SnapshotService],
})
export class CacheModule {}
