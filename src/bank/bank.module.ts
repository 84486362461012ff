import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AuthorizedCall } from '../auth/authorized-call.js';
import { Clock } from '../time/clock.js';
import { Settings } from '../config/settings.js';
import { Log } from '../logging/logging.js';
import { AccountReader } from './account-reader.js';
import { BankDrift } from './bank-drift.js';
import { PageSource } from './page-source.js';

/** The bank's interface: the only place that knows its paths, its paging and the shape of its answers. */
@Module({
  imports: [AuthModule],
  providers: [
    { provide: BankDrift, useFactory: ({ logger }: Log) => new BankDrift(logger), inject: [Log] },
    {
      provide: PageSource,
      useFactory: (call: AuthorizedCall, clock: Clock) => new PageSource(call, clock),
      inject: [AuthorizedCall, Clock],
    },
    {
      provide: AccountReader,
      useFactory: (source: PageSource, drift: BankDrift, settings: Settings) =>
        new AccountReader(source, drift, settings),
      inject: [PageSource, BankDrift, Settings],
    },
  ],
  exports: [AccountReader, BankDrift],
})
export class BankModule {}
