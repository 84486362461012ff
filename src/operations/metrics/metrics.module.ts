import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { BankModule } from '../../bank/bank.module.js';
import { HealthModule } from '../health/health.module.js';
import { CacheModule } from '../../cache/cache.module.js';
import { Callers } from './callers.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';
import { RecentController } from './recent.controller.js';
import { RecentEvents } from './recent-events.js';
import { RecentHistory } from './recent-history.js';
import { Exposition } from './exposition.js';
import { Gauges } from './gauges.js';

/** Metrics for Prometheus and the last hour. No module imports it. */
@Module({
  imports: [CacheModule, BankModule, AuthModule, HealthModule],
  controllers: [MetricsController, RecentController],
  providers: [Callers, Metrics, Gauges, Exposition, RecentHistory, RecentEvents],
})
export class MetricsModule {}
