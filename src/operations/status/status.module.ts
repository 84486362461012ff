import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { BankModule } from '../../bank/bank.module.js';
import { CacheModule } from '../../cache/cache.module.js';
import { SharingModule } from '../../sharing/sharing.module.js';
import { BankCondition } from './bank-condition.js';
import { GatewayStatus } from './gateway-status.js';
import { Readiness } from './readiness.js';

/** The state of the gateway and its judgement, which health and metrics show. */
@Module({
  imports: [CacheModule, SharingModule, BankModule, AuthModule],
  providers: [BankCondition, GatewayStatus, Readiness],
  exports: [GatewayStatus, Readiness],
})
export class StatusModule {}
