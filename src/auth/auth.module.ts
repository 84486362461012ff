import { Module } from '@nestjs/common';
import { Activity } from '../telemetry/activity.js';
import { Clock } from '../time/clock.js';
import { Log } from '../logging/logging.js';
import { Settings } from '../config/settings.js';
import { AuthorizedCall } from './authorized-call.js';
import { SharedTokens } from './bank-identity.js';
import { BankCondition } from './bank-condition.js';
import { IdentityHolder } from './identity-holder.js';

/**
 * Holds the client certificate and the access token. Other rooms send through AuthorizedCall, and read from IdentityHolder
 * and BankCondition how certificate, token and bank are; none of them handles a token or a key.
 */
@Module({
  providers: [
    {
      provide: BankCondition,
      useFactory: (clock: Clock, log: Log) => new BankCondition(clock, log.logger),
      inject: [Clock, Log],
    },
    {
      provide: IdentityHolder,
      useFactory: (
        settings: Settings,
        clock: Clock,
        { logger }: Log,
        activity: Activity,
        condition: BankCondition,
        sharing?: SharedTokens,
      ) => IdentityHolder.start({ settings, clock, logger, activity, condition, sharing }),
      inject: [Settings, Clock, Log, Activity, BankCondition, { token: SharedTokens, optional: true }],
    },
    {
      provide: AuthorizedCall,
      useFactory: (identities: IdentityHolder, settings: Settings) => new AuthorizedCall(identities, settings),
      inject: [IdentityHolder, Settings],
    },
  ],
  exports: [BankCondition, IdentityHolder, AuthorizedCall],
})
export class AuthModule {}
