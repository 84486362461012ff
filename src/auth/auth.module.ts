import { Module } from '@nestjs/common';
import { Activity } from '../telemetry/activity.js';
import { Clock } from '../time/clock.js';
import { Log } from '../telemetry/log.js';
import { Settings } from '../config/settings.js';
import { AuthorizedCall } from './authorized-call.js';
import { IdentityHolder } from './identity-holder.js';

/** AuthorizedCall is the way to the account list, IdentityHolder has the identity in use. The doctor creates its own. */
@Module({
  providers: [
    AuthorizedCall,
    {
      provide: IdentityHolder,
      useFactory: (settings: Settings, clock: Clock, { logger }: Log, activity: Activity) =>
        IdentityHolder.start({ settings, clock, logger, activity }),
      inject: [Settings, Clock, Log, Activity],
    },
  ],
  exports: [IdentityHolder, AuthorizedCall],
})
export class AuthModule {}
