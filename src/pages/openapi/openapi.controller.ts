import { Controller, Get, Inject, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { FixedDocument, SendFixedDocument } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import type { DescribeApi } from './describe-api.js';
import { toReferencePage } from './reference-page.js';

/** Injects a `DescribeApi`: only the command that creates the app can describe it. */
export const DESCRIBE_API = Symbol('DESCRIBE_API');

const CACHE_CONTROL = 'public, max-age=300';
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': CACHE_CONTROL };

/** The description of the API (OpenAPI 3.1), for programs at /openapi.json and for people at /docs. */
@ApiExcludeController()
@UseInterceptors(SendFixedDocument)
@Controller()
export class OpenApiController {
  #json: FixedDocument | undefined;
  #page: FixedDocument | undefined;

  constructor(@Inject(DESCRIBE_API) private readonly describeApi: DescribeApi) {}

  @Get('openapi.json')
  json(): FixedDocument {
    this.#json ??= new FixedDocument(JSON.stringify(this.describeApi()), JSON_HEADERS);
    return this.#json;
  }

  @Get('docs')
  page(): FixedDocument {
    this.#page ??= new FixedDocument(toReferencePage(this.describeApi()), {
      ...PAGE_HEADERS,
      'cache-control': CACHE_CONTROL,
    });
    return this.#page;
  }
}
