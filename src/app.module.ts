import { Module, type DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { AccountsModule } from './accounts/accounts.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BankModule } from './bank/bank.module.js';
import { Clock } from './clock.js';
import { Lifecycle } from './http/lifecycle.js';
import { HealthModule } from './health/health.module.js';
import { Log } from './logging/logging.js';
import { ProblemsController } from './problems/problems.controller.js';
import { RootController } from './root.controller.js';
import { Settings } from './config/settings.js';

/** What comes from outside: made by the command line, or by a test. */
export interface AppParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
}

/** The map: a request travels accounts → bank → auth → egress → the bank. */
@Module({})
export class AppModule {
  static register({ settings, clock, log, lifecycle }: AppParts): DynamicModule {
    const parts = [
      { provide: Settings, useValue: settings },
      { provide: Clock, useValue: clock },
      { provide: Log, useValue: log },
      { provide: Lifecycle, useValue: lifecycle },
    ];
    return {
      module: AppModule,
      imports: [
        { module: class PartsModule {}, global: true, providers: parts, exports: parts },
        // Nest's own lines through our logger; the line for each request is written at the door
        LoggerModule.forRoot({ pinoHttp: { logger: log.logger, autoLogging: false }, forRoutes: [] }),
        AccountsModule,
        BankModule,
        AuthModule,
        HealthModule,
      ],
      controllers: [ProblemsController, RootController],
    };
  }
}
