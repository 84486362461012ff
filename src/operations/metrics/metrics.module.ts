import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { BankModule } from '../../bank/bank.module.js';
import { HealthModule } from '../health/health.module.js';
import { CacheModule } from '../../cache/cache.module.js';
import { ClientNames } from './client-names.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';
import { RecentController } from './recent.controller.js';
import { RecentCallers } from './recent-callers.js';
import { RecentEvents } from './recent-events.js';
import { RecentHistory } from './recent-history.js';
import { Exposition } from './exposition.js';
import { Gauges } from './gauges.js';

/** Metrics for Prometheus and the last hour. No module imports it. */
@Module({
  imports: [CacheModule, BankModule, AuthModule, HealthModule],
  controllers: [MetricsController, RecentController],
  providers: [ClientNames, Metrics, Gauges, Exposition, RecentHistory, RecentCallers, RecentEvents],
})
export class MetricsModule {}
