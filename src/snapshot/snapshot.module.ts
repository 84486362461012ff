import { Module } from '@nestjs/common';
import { Activity } from '../telemetry/activity.js';
import { AuthModule } from '../auth/auth.module.js';
import { BankCondition } from '../auth/bank-condition.js';
import { AccountReader } from '../bank/account-reader.js';
import { BankModule } from '../bank/bank.module.js';
import { Clock } from '../time/clock.js';
import { Settings } from '../config/settings.js';
import { Log } from '../logging/logging.js';
import type { SharedSnapshots } from '../sharing/shared-snapshots.js';
import { SHARED_SNAPSHOTS, SharingModule } from '../sharing/sharing.module.js';
import { SnapshotCache } from './snapshot-cache.js';
import { SnapshotReader, type ReadAccounts } from './snapshot-reader.js';

/** The cached snapshot and its refreshes. */
@Module({
  imports: [BankModule, AuthModule, SharingModule],
  providers: [
    {
      provide: SnapshotReader,
      useFactory: (accounts: AccountReader, clock: Clock) => new SnapshotReader(accounts, clock),
      inject: [AccountReader, Clock],
    },
    {
      provide: SnapshotCache,
      useFactory: async (
        reader: SnapshotReader,
        settings: Settings,
        clock: Clock,
        { logger }: Log,
        activity: Activity,
        condition: BankCondition,
        shared: SharedSnapshots | null,
      ) => {
        const read: ReadAccounts = (refreshId, signal, acceptable) =>
          shared?.read(reader, refreshId, signal, acceptable) ?? reader.read(refreshId, signal);
        const snapshots = new SnapshotCache({
          reader: { read },
          settings,
          clock,
          logger,
          activity,
          condition,
        });
        const earlier = await shared?.restore();
        if (earlier) snapshots.restore(earlier);
        return snapshots;
      },
      inject: [SnapshotReader, Settings, Clock, Log, Activity, BankCondition, SHARED_SNAPSHOTS],
    },
  ],
  exports: [SnapshotCache],
})
export class SnapshotModule {}
