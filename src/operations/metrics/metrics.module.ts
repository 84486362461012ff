import { Module } from '@nestjs/common';
import { StatusModule } from '../status/status.module.js';
import { Callers } from './callers.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';
import { RecentController } from './recent.controller.js';
import { RecentEvents } from './recent-events.js';
import { RecentHistory } from './recent-history.js';
import { Gauges } from './gauges.js';

/** Metrics for Prometheus and the last hour. No module imports it. */
@Module({
  imports: [StatusModule],
  controllers: [MetricsController, RecentController],
  providers: [Callers, Metrics, Gauges, RecentHistory, RecentEvents],
})
export class MetricsModule {}
