import { Module } from '@nestjs/common';
import { Activity } from '../telemetry/activity.js';
import { AuthModule } from '../auth/auth.module.js';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { AccountReader } from '../bank/account-reader.js';
import { BankModule } from '../bank/bank.module.js';
import { Clock } from '../time/clock.js';
import { Settings } from '../config/settings.js';
import { Log } from '../logging/logging.js';
import { BuilderThread } from './builder-thread.js';
import { SnapshotCache } from './snapshot-cache.js';
import { SharedReadings, SnapshotReader } from './snapshot-reader.js';

/** The last complete reading, and who gets it. */
@Module({
  imports: [BankModule, AuthModule],
  providers: [
    { provide: BuilderThread, useFactory: () => new BuilderThread() },
    {
      provide: SnapshotReader,
      useFactory: (accounts: AccountReader, builder: BuilderThread, clock: Clock) =>
        new SnapshotReader(accounts, builder, clock),
      inject: [AccountReader, BuilderThread, Clock],
    },
    {
      provide: SnapshotCache,
      useFactory: (
        reader: SnapshotReader,
        settings: Settings,
        clock: Clock,
        { logger }: Log,
        activity: Activity,
        condition: BankCondition,
        identities: IdentityHolder,
        sharing?: SharedReadings,
      ) => {
        const read = reader.read.bind(reader);
        return new SnapshotCache({
          reader: { read: sharing?.share(read, () => identities.current.material) ?? read },
          settings,
          clock,
          logger,
          activity,
          condition,
        });
      },
      inject: [
        SnapshotReader,
        Settings,
        Clock,
        Log,
        Activity,
        BankCondition,
        IdentityHolder,
        { token: SharedReadings, optional: true },
      ],
    },
  ],
  exports: [SnapshotCache],
})
export class SnapshotModule {}
