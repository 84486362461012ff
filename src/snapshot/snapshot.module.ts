import { Module } from '@nestjs/common';
import { Activity } from '../activity.js';
import { AuthModule } from '../auth/auth.module.js';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { AccountReader } from '../bank/account-reader.js';
import { BankDrift } from '../bank/bank-drift.js';
import { BankModule } from '../bank/bank.module.js';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { Log } from '../logging/logging.js';
import { BuilderThread } from './builder-thread.js';
import { SnapshotKeeper } from './snapshot-keeper.js';
import { SnapshotReader } from './snapshot-reader.js';

/** The last complete reading, and who gets it. */
@Module({
  imports: [BankModule, AuthModule],
  providers: [
    {
      provide: BuilderThread,
      useFactory: (drift: BankDrift) => new BuilderThread({ onDrift: (found) => drift.note(found) }),
      inject: [BankDrift],
    },
    {
      provide: SnapshotReader,
      useFactory: (accounts: AccountReader, builder: BuilderThread, clock: Clock) =>
        new SnapshotReader(accounts, builder, clock),
      inject: [AccountReader, BuilderThread, Clock],
    },
    {
      provide: SnapshotKeeper,
      useFactory: (
        reader: SnapshotReader,
        { snapshot: settings }: Settings,
        clock: Clock,
        { logger }: Log,
        activity: Activity,
        condition: BankCondition,
        identities: IdentityHolder,
      ) => {
        const keeper = new SnapshotKeeper({ reader, settings, clock, logger, activity, condition });
        // what was refused to the old identity may be granted to the new
        identities.onReplaced(() => keeper.resetBackOff());
        return keeper;
      },
      inject: [SnapshotReader, Settings, Clock, Log, Activity, BankCondition, IdentityHolder],
    },
  ],
  exports: [SnapshotKeeper],
})
export class SnapshotModule {}
