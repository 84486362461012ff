import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { CacheModule } from '../../cache/cache.module.js';
import { AuthModule } from '../../auth/auth.module.js';
import { SharingModule } from '../../sharing/sharing.module.js';
import { BankModule } from '../../bank/bank.module.js';
import { BankCondition } from './bank-condition.js';
import { GatewayStatus } from './gateway-status.js';
import { HealthController } from './health.controller.js';
import { HealthReport } from './health-report.js';
import { Readiness } from './readiness.js';

@Module({
  // a failed check is an answer, not an event: what failed was logged when it did
  imports: [TerminusModule.forRoot({ logger: false }), CacheModule, BankModule, AuthModule, SharingModule],
  controllers: [HealthController],
  providers: [BankCondition, GatewayStatus, Readiness, HealthReport],
  exports: [GatewayStatus],
})
export class HealthModule {}
