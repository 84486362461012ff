import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { AccountReader } from '../bank/account-reader.js';
import { BankModule } from '../bank/bank.module.js';
import { Clock } from '../clock.js';
import { Log } from '../logging/logging.js';
import { Settings } from '../config/settings.js';
import { AccountsController } from './accounts.controller.js';
import { Answers } from './answers.js';
import { BalancesController } from './balances.controller.js';
import { ReadyAnswers } from './ready-answers.js';
import { Responder } from './responder.js';
import { SnapshotKeeper } from './snapshot-keeper.js';

/** Our words: what internal web apps ask, answered from the snapshot. */
@Module({
  imports: [BankModule, AuthModule],
  controllers: [AccountsController, BalancesController],
  providers: [
    Answers,
    ReadyAnswers,
    Responder,
    {
      provide: SnapshotKeeper,
      useFactory: (
        reader: AccountReader,
        settings: Settings,
        clock: Clock,
        log: Log,
        condition: BankCondition,
        identities: IdentityHolder,
      ) => {
        const keeper = new SnapshotKeeper({
          reader,
          settings: settings.snapshot,
          clock,
          logger: log.logger,
          condition,
        });
        // what was refused to the old identity may be granted to the new
        identities.onReplaced(() => keeper.endWait());
        return keeper;
      },
      inject: [AccountReader, Settings, Clock, Log, BankCondition, IdentityHolder],
    },
  ],
  exports: [SnapshotKeeper],
})
export class AccountsModule {}
