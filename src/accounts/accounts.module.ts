import { Module } from '@nestjs/common';
import { CacheModule } from '../cache/cache.module.js';
import { AccountsController } from './accounts.controller.js';
import { Downloads } from './downloads.js';
import { EncodedResponses } from './encoded-responses.js';
import { Responder } from './responder.js';

/** The API for internal web apps, served from the snapshot. */
@Module({
  imports: [CacheModule],
  controllers: [AccountsController],
  providers: [Downloads, EncodedResponses, Responder],
})
export class AccountsModule {}
