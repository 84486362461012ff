import { Module } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Log } from '../logging/logging.js';
import { Settings } from '../config/settings.js';
import { AuthorizedCall } from './authorized-call.js';
import { BankCondition } from './bank-condition.js';
import { IdentityHolder } from './identity-holder.js';

/** Holds the client certificate and the access token; all that leaves this room is the authorized call and its state. */
@Module({
  providers: [
    {
      provide: BankCondition,
      useFactory: (clock: Clock, log: Log) => new BankCondition(clock, log.logger),
      inject: [Clock, Log],
    },
    {
      provide: IdentityHolder,
      useFactory: (settings: Settings, clock: Clock, log: Log, condition: BankCondition) =>
        new IdentityHolder({ bank: settings.bank, egress: settings.egress, clock, logger: log.logger, condition }),
      inject: [Settings, Clock, Log, BankCondition],
    },
    {
      provide: AuthorizedCall,
      useFactory: (identities: IdentityHolder, settings: Settings) => new AuthorizedCall(identities, settings.bank),
      inject: [IdentityHolder, Settings],
    },
  ],
  exports: [BankCondition, IdentityHolder, AuthorizedCall],
})
export class AuthModule {}
