import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { Logger } from 'nestjs-pino';
import { AppModule, type AppParts } from './app.module.js';
import { Door } from './http/door.js';
import { ProblemFilter } from './http/problem-filter.js';
import { ValidationPipe } from './http/validation-pipe.js';
import { VERSION } from './version.js';

/**
 * The app as it is served, ready to listen; tests make the very same.
 * @throws PfxUnreadable when there is no usable client certificate to begin with
 */
export async function createApp(parts: AppParts): Promise<NestFastifyApplication> {
  const { settings, log, lifecycle } = parts;
  const door = new Door(settings.http, log.logger, lifecycle);
  const adapter = new FastifyAdapter(door.options);
  door.install(adapter.getInstance());
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.register(parts), adapter, {
    logger: false,
    abortOnError: false,
  });
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalFilters(new ProblemFilter(log.logger));
  describeApi(app);
  await app.init();
  app.useLogger(app.get(Logger));
  return app;
}

/** /openapi.json and /docs, from the schemas that also validate. */
function describeApi(app: NestFastifyApplication): void {
  const description = new DocumentBuilder()
    .setTitle('accounts-gateway')
    .setDescription(
      "A bank's accounts and balances for internal web apps. Errors are application/problem+json; see /problems.",
    )
    .setVersion(VERSION)
    .build();
  const document = leaveOpen(SwaggerModule.createDocument(app, description));
  SwaggerModule.setup('docs', app, document, {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'accounts-gateway',
  });
}

/** Fields may be added to answers (contract §3), so no schema closes its objects. */
function leaveOpen(document: OpenAPIObject): OpenAPIObject {
  return JSON.parse(
    JSON.stringify(document, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  ) as OpenAPIObject;
}
