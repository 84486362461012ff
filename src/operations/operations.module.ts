import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AuthModule } from '../auth/auth.module.js';
import { BankModule } from '../bank/bank.module.js';
import { CacheModule } from '../cache/cache.module.js';
import { SharingModule } from '../sharing/sharing.module.js';
import { HealthController } from './health/health.controller.js';
import { HealthReport } from './health/health-report.js';
import { Callers } from './metrics/callers.js';
import { Gauges } from './metrics/gauges.js';
import { Metrics } from './metrics/metrics.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { RecentEvents, RecentHistory } from './metrics/recent-history.js';
import { GatewayStatus } from './status/gateway-status.js';
import { Readiness } from './status/readiness.js';

/** For operations: the state of the gateway and its assessment, as health and as metrics, and the last hour. */
@Module({
  imports: [
    CacheModule,
    SharingModule,
    BankModule,
    AuthModule,
    // a failed check is a response, not an event: its cause was logged when it occurred
    TerminusModule.forRoot({ logger: false }),
  ],
  controllers: [HealthController, MetricsController],
  providers: [GatewayStatus, Readiness, HealthReport, Callers, Metrics, Gauges, RecentHistory, RecentEvents],
})
export class OperationsModule {}
