import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PAGE_HEADERS } from '../http/security-headers.js';
import { toReferencePage } from './reference-page.js';

const CACHE_CONTROL = 'public, max-age=300';

/** The description of the API, for programs at /openapi.json and for people at /docs. */
@ApiExcludeController()
@Controller()
export class OpenApiController {
  /** The document. Set by `describeApi`, because Nest can describe an app only after creating it. */
  document!: () => OpenAPIObject;

  @Get('openapi.json')
  json(@Res() reply: FastifyReply): void {
    reply
      .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': CACHE_CONTROL })
      .send(JSON.stringify(this.document()));
  }

  @Get('docs')
  page(@Res() reply: FastifyReply): void {
    reply.headers({ ...PAGE_HEADERS, 'cache-control': CACHE_CONTROL }).send(toReferencePage(this.document()));
  }
}
