import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Settings } from '../config/settings.js';
import { UnderWay } from './under-way.js';

/**
 * The graceful stop (docs/deploy.md#start-signals-and-stop): not ready at once, still serving for SHUTDOWN_DELAY_MS; then no new
 * connections, requests that are on their way or in flight answered, all connections closed; after SHUTDOWN_GRACE_MS in any case.
 */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  constructor(
    private readonly settings: Settings,
    private readonly underWay: UnderWay,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** True after a signal to stop: no longer ready, though it may still serve. */
  get stopping(): boolean {
    return this.underWay.isStopping;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.underWay.stop();
    const server = this.adapterHost.httpAdapter.getHttpServer() as Server;
    if (!server.listening) return;
    const { SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = this.settings;
    if (SHUTDOWN_DELAY_MS > 0) await delay(SHUTDOWN_DELAY_MS);
    await this.underWay.drain(server, SHUTDOWN_GRACE_MS);
  }
}
