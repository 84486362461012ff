import { Controller, Get, Res, type INestApplication } from '@nestjs/common';
import { ApiExcludeController, DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { VERSION } from '../../config/version.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { addCommonResponses, RESPONSE_HEADERS } from './common-responses.js';
import { toReferencePage } from './reference-page.js';
import { namedSchemas, toParameterSchema } from '../../representation/schemas.js';

const CACHE_CONTROL = 'public, max-age=300';
/** Explains npm's UNLICENSED; linters refuse a licence without an address. */
const LICENSE_PAGE = 'https://docs.npmjs.com/cli/configuring-npm/package-json#license';
const DESCRIPTION = `Accounts and balances of a bank for internal web apps, from one complete snapshot of the bank's list.

Amounts are decimal strings with the digits that the bank sent. Errors are \`application/problem+json\`; decide by \`code\`.
Fields and values may be added to answers. Address and host name decide who may call; there are no credentials.`;

/** The description of the API (OpenAPI 3.1), for programs at /openapi.json and for people at /docs. */
@ApiExcludeController()
@Controller()
export class OpenApiController {
  /** The app to describe. Set after it is created: Nest cannot inject it. */
  app!: INestApplication;
  #json: string | undefined;
  #page: string | undefined;

  @Get('openapi.json')
  json(@Res() reply: FastifyReply): void {
    reply
      .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': CACHE_CONTROL })
      .send((this.#json ??= JSON.stringify(createDocument(this.app))));
  }

  @Get('docs')
  page(@Res() reply: FastifyReply): void {
    this.#page ??= toReferencePage(createDocument(this.app));
    reply.headers({ ...PAGE_HEADERS, 'cache-control': CACHE_CONTROL }).send(this.#page);
  }
}

/** Describes the API by the schemas that also validate. */
function createDocument(app: INestApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.1')
    .setTitle('accounts-gateway')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .addServer('/', 'the gateway that serves this document')
    .addTag('accounts', 'Accounts and balances.')
    .addTag('health', 'For load balancers, probes and operators.')
    .addTag('problems', 'The meaning of each error, who must act, and the remedy.')
    .setLicense('UNLICENSED', LICENSE_PAGE)
    .build();
  const document = SwaggerModule.createDocument(
    app,
    { ...description, security: [] },
    { standardSchemaConverter: (schema) => ({ schema: toParameterSchema(schema as z.ZodType) }) },
  );
  addCommonResponses(document.paths);
  return { ...document, components: { schemas: namedSchemas(), headers: RESPONSE_HEADERS } };
}
