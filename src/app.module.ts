import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_FILTER } from '@nestjs/core';
import { AccountsModule } from './accounts/accounts.module.js';
import { Activity } from './telemetry/activity.js';
import { AuthModule } from './auth/auth.module.js';
import { IdentityHolder } from './auth/identity-holder.js';
import { BankModule } from './bank/bank.module.js';
import { Clock } from './time/clock.js';
import { Settings } from './config/settings.js';
import type { Http } from './http/create-http.js';
import { ListenerCertificate } from './http/listener-certificate.js';
import { ProblemFilter } from './http/problem-filter.js';
import { UnderWay } from './http/under-way.js';
import { PagesModule } from './pages/pages.module.js';
import { Log } from './telemetry/log.js';
import { SandboxControl } from './sandbox/control/sandbox-control.js';
import { REDIS_WAIT_MS } from './sharing/sharing.module.js';
import { Refresher } from './cache/refresher.js';
import { SnapshotService } from './cache/snapshot-service.js';
import { CacheModule } from './cache/cache.module.js';
import { OperationsModule } from './operations/operations.module.js';

/** Components built by the command line or a test. */
export interface AppParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** The switches of the embedded sandbox bank, if there is one. */
  readonly sandbox?: SandboxControl | undefined;
  /** Maximum wait of a request for Redis, ms; default 200. Tests with a healthy Redis raise it for busy machines. */
  readonly redisWaitMs?: number | undefined;
}

/**
 * The map of the app. A call: http → accounts → cache, and list for the response. A refresh: cache → sharing → snapshot
 * → bank → auth → egress → the bank, and list for the data received.
 */
@Module({})
export class AppModule {
  constructor(
    private readonly snapshots: SnapshotService,
    private readonly refresher: Refresher,
    private readonly identities: IdentityHolder,
    @Inject(ListenerCertificate) private readonly listenerCertificate: ListenerCertificate | null,
  ) {}

  static register({ settings, sandbox, ...parts }: AppParts, activity: Activity, http: Http): DynamicModule {
    const providers = [
      { provide: Settings, useValue: settings },
      { provide: Clock, useValue: parts.clock },
      { provide: Log, useValue: parts.log },
      { provide: Activity, useValue: activity },
      { provide: UnderWay, useValue: http.underWay },
      { provide: ListenerCertificate, useValue: http.certificate },
      { provide: SandboxControl, useValue: sandbox },
      { provide: REDIS_WAIT_MS, useValue: parts.redisWaitMs },
    ];
    return {
      module: AppModule,
      imports: [
        { module: class PartsModule {}, global: true, providers, exports: providers },
        // ConfigService gets the checked settings, and nothing else from the environment
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          ignoreEnvVars: true,
          skipProcessEnv: true,
          load: [() => settings],
        }),
        AccountsModule,
        CacheModule,
        BankModule,
        AuthModule,
        OperationsModule,
        PagesModule.register({ sandbox: sandbox !== undefined }),
      ],
      // Nest asks the filter of the root module last, so filters of other modules work
      providers: [{ provide: APP_FILTER, useClass: ProblemFilter }],
    };
  }

  /** Starts the first refresh in the background. */
  readAtStart(): void {
    // failures are logged where they happen
    this.snapshots.refreshForHealth()?.catch(() => undefined);
  }

  /** Reloads the files, drops connections, and ends any back-off. Resolves once new certificates are in use or rejected. */
  async reload(): Promise<void> {
    this.refresher.resetBackOff();
    this.identities.current.egress.forget();
    await Promise.all([this.identities.reload(), this.listenerCertificate?.reload()]);
  }
}
