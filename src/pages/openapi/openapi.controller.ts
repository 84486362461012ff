import { Controller, Get, UseInterceptors, type INestApplication } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { FixedDocument, SendFixedDocument } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { describeApi } from './describe-api.js';
import { toReferencePage } from './reference-page.js';

const CACHE_CONTROL = 'public, max-age=300';
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': CACHE_CONTROL };

/** The description of the API (OpenAPI 3.1), for programs at /openapi.json and for people at /docs. */
@ApiExcludeController()
@UseInterceptors(SendFixedDocument)
@Controller()
export class OpenApiController {
  /** Set by `createApp`: it cannot be injected. */
  app!: INestApplication;
  #json: FixedDocument | undefined;
  #page: FixedDocument | undefined;

  @Get('openapi.json')
  json(): FixedDocument {
    this.#json ??= new FixedDocument(JSON.stringify(describeApi(this.app)), JSON_HEADERS);
    return this.#json;
  }

  @Get('docs')
  page(): FixedDocument {
    this.#page ??= new FixedDocument(toReferencePage(describeApi(this.app)), {
      ...PAGE_HEADERS,
      'cache-control': CACHE_CONTROL,
    });
    return this.#page;
  }
}
