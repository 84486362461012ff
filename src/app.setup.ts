import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type AppParts } from './app.module.js';
import { createHttp } from './http/create-http.js';
import { HTTP_LIMITS, type HttpLimits } from './http/http-limits.js';
import type { ToFailurePage } from './http/send-problem.js';
import { OpenApiController } from './pages/openapi/openapi.controller.js';
import { toFailurePage } from './pages/problems/problem-pages.js';
import { Activity } from './telemetry/activity.js';
import { NestLogger } from './telemetry/nest-logger.js';

/**
 * Creates the app, for production and tests alike. Guards, interceptors and hooks may be added until `listen` or `init`.
 * @throws CertificateUnreadable, FileUnusable if a file of the client certificate, its secrets or the listener cannot be used
 */
export async function createApp(parts: AppParts, limits: HttpLimits = HTTP_LIMITS): Promise<NestFastifyApplication> {
  const { settings, clock, log } = parts;
  const activity = new Activity();
  const toPage: ToFailurePage = (document) => toFailurePage(document, settings);
  const http = await createHttp({ settings, clock, log, activity, limits, toFailurePage: toPage });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.register(parts, activity, http),
    new FastifyAdapter(http.fastify),
    { logger: false, abortOnError: false },
  );
  app.get(OpenApiController).app = app;
  // not before: the command reports a failed start, once
  http.fastify.server.once('listening', () => app.useLogger(new NestLogger(log.logger)));
  return app;
}
