import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { StatusModule } from '../status/status.module.js';
import { HealthController } from './health.controller.js';
import { HealthReport } from './health-report.js';

@Module({
  // a failed check is an answer, not an event: what failed was logged when it did
  imports: [TerminusModule.forRoot({ logger: false }), StatusModule],
  controllers: [HealthController],
  providers: [HealthReport],
})
export class HealthModule {}
