import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BankModule } from '../bank/bank.module.js';
import { SharingModule } from '../sharing/sharing.module.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { Refresher } from './refresher.js';
import { SnapshotCache } from './snapshot-cache.js';
import { SnapshotReader } from '../list/snapshot-reader.js';

/** The cached snapshot and its refreshes. */
@Module({
  imports: [BankModule, AuthModule, SharingModule],
  providers: [CachedSnapshot, Refresher, SnapshotCache, SnapshotReader],
  exports: [SnapshotCache],
})
export class SnapshotModule {}
