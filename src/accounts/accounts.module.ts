import { Module, type NestModule } from '@nestjs/common';
import { SnapshotModule } from '../snapshot/snapshot.module.js';
import { AccountsController } from './accounts.controller.js';
import { BalancesController } from './balances.controller.js';
import { CachedResponses } from './cached-responses.js';
import { CachedRoutes } from './cached-routes.js';
import { Responder } from './responder.js';

/** The API for internal web apps, answered from the snapshot. */
@Module({
  imports: [SnapshotModule],
  controllers: [AccountsController, BalancesController],
  providers: [CachedResponses, CachedRoutes, Responder],
})
export class AccountsModule implements NestModule {
  constructor(private readonly cachedRoutes: CachedRoutes) {}

  /** Nest calls this before it makes routes. */
  configure(): void {
    this.cachedRoutes.watch();
  }
}
