import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Settings } from '../config/settings.js';
import { Connections } from './connections.js';

/**
 * The graceful stop (docs/deploy.md#start-signals-and-stop): not ready at once, still serving for SHUTDOWN_DELAY_MS; then no new
 * connections, requests that are on their way or in flight answered, idle connections closed; after SHUTDOWN_GRACE_MS, all of them.
 */
@Injectable()
export class Shutdown implements OnModuleInit, BeforeApplicationShutdown {
  #stopping = false;

  constructor(
    private readonly settings: Settings,
    private readonly connections: Connections,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** True after a signal to stop: no longer ready, though it may still serve. */
  get stopping(): boolean {
    return this.#stopping;
  }

  onModuleInit(): void {
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    // callers then leave their connections by themselves, before they are closed
    fastify.addHook('onSend', (_request, reply, payload, done) => {
      if (this.#stopping) reply.header('connection', 'close');
      done(null, payload);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping = true;
    const server = this.adapterHost.httpAdapter.getHttpServer() as Server;
    if (!server.listening) return;
    const { SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = this.settings;
    if (SHUTDOWN_DELAY_MS > 0) await delay(SHUTDOWN_DELAY_MS);
    await this.connections.drain(server, SHUTDOWN_GRACE_MS);
  }
}
