import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { Activity } from './telemetry/activity.js';
import { AppModule, type AppParts } from './app.module.js';
import { HttpEdge } from './http/http-edge.js';
import { ValidationPipe } from './http/validation-pipe.js';
import { OpenApiController } from './pages/openapi/openapi.controller.js';

/**
 * The app as it is served; tests make the very same. `listen` (or `init`) starts it, so guards, interceptors and hooks
 * may still be added; `close` stops it gracefully.
 * @throws PfxUnreadable when there is no usable client certificate to begin with
 */
export async function createApp(parts: AppParts): Promise<NestFastifyApplication> {
  const { settings, log, clock } = parts;
  const activity = new Activity();
  const edge = new HttpEdge(settings, log, clock, activity);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.register(parts, edge, activity),
    new FastifyAdapter(edge.fastify),
    { logger: false, abortOnError: false },
  );
  app.useGlobalPipes(new ValidationPipe());
  app.get(OpenApiController).app = app;
  // not before: a start that fails is reported once, by the command
  edge.fastify.server.once('listening', () => app.useLogger(app.get(Logger)));
  return app;
}
