import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply } from 'fastify';
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
    private readonly connections: Connections<FastifyReply>,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** True after a signal to stop: no longer ready, though it may still serve. */
  get stopping(): boolean {
    return this.#stopping;
  }

  onModuleInit(): void {
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', (_request, reply, done) => {
      if (this.#stopping) askToClose(reply);
      done();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping = true;
    for (const [, unanswered] of this.connections.all()) unanswered.forEach(askToClose);
    const server = this.adapterHost.httpAdapter.getHttpServer() as Server;
    if (!server.listening) return;
    const { SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = this.settings;
    if (SHUTDOWN_DELAY_MS > 0) await delay(SHUTDOWN_DELAY_MS);
    await this.connections.drain(server, SHUTDOWN_GRACE_MS);
  }
}

/** The caller then closes its connection itself, before the gateway does. */
const askToClose = (reply: FastifyReply): void => void reply.header('connection', 'close');
