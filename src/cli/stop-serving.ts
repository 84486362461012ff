import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SnapshotKeeper } from '../snapshot/snapshot-keeper.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import type { HttpSettings } from '../config/settings.js';
import type { Lifecycle } from '../http/lifecycle.js';

/**
 * The graceful stop (contract §2): not ready at once, still serving for SHUTDOWN_DELAY_MS; then no new connections, idle
 * ones closed, calls in flight answered within SHUTDOWN_GRACE_MS, and what is left then is cut off.
 */
export async function stopServing(
  app: NestFastifyApplication,
  lifecycle: Lifecycle,
  settings: HttpSettings,
): Promise<void> {
  lifecycle.leave();
  if (settings.shutdownDelayMs > 0) await delay(settings.shutdownDelayMs);

  const server = app.getHttpServer() as Server;
  const closed = new Promise((resolve) => server.close(resolve));
  lifecycle.drain();
  await Promise.race([closed, delay(settings.shutdownGraceMs, undefined, { ref: false })]);
  lifecycle.end();

  app.get(SnapshotKeeper).onApplicationShutdown();
  app.get(IdentityHolder).close();
  await app.close();
}
