import { Controller, Get, Headers, Param, UseInterceptors } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { refTo } from '../../representation/schemas.js';
import { requireType } from '../../representation/negotiation.js';
import { FixedDocument, SendFixedDocument } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { problemEntrySchema, problemListSchema, toProblemEntry } from '../../errors/problem-document.js';
import { toCodePage, toListPage } from './problem-pages.js';
import { ALL_CODES } from '../../errors/problem-table.js';

const HTML = 'text/html';
const JSON_TYPE = 'application/json';
const CACHE_CONTROL = { 'cache-control': 'public, max-age=3600' };
const page200 = { [HTML]: { schema: { type: 'string' as const, description: 'a page for people' } } };

/** The page of each error; `type` in a problem document links to it. */
@ApiTags('problems')
@UseInterceptors(SendFixedDocument)
@Controller('problems')
export class ProblemsController {
  readonly #list = toForms(toListPage(), ALL_CODES.map(toProblemEntry));
  readonly #byCode: ReadonlyMap<string, ReturnType<typeof toForms>>;

  constructor(settings: Settings) {
    this.#byCode = new Map(ALL_CODES.map((code) => [code, toForms(toCodePage(code, settings), toProblemEntry(code))]));
  }

  @Get()
  @ApiOperation({
    operationId: 'listProblems',
    summary: 'List errors',
    description: 'A page for people, or JSON with `Accept: application/json`.',
  })
  @ApiOkResponse({
    description: 'all codes',
    content: { [JSON_TYPE]: { schema: refTo(problemListSchema) }, ...page200 },
  })
  all(@Headers('accept') accept: string | undefined): FixedDocument {
    return this.#list[requireType([HTML, JSON_TYPE], accept)];
  }

  @Get(':code')
  @ApiParam({ name: 'code', description: 'the `code` of a problem document', example: 'bank-timeout' })
  @ApiOperation({
    operationId: 'getProblem',
    summary: 'Get the meaning, owner and steps of an error',
    description: 'A page for people, or JSON with `Accept: application/json`.',
  })
  @ApiOkResponse({
    description: 'the error with this code',
    content: { [JSON_TYPE]: { schema: refTo(problemEntrySchema) }, ...page200 },
  })
  one(@Param('code') code: string, @Headers('accept') accept: string | undefined): FixedDocument {
    const forms = this.#byCode.get(code);
    if (!forms) throw new GatewayError('not-found', 'No problem has this code. /problems lists all.');
    return forms[requireType([HTML, JSON_TYPE], accept)];
  }
}

/** The same for people and for programs: HTML, unless the caller prefers JSON. */
function toForms(page: string, entries: object) {
  return {
    [HTML]: new FixedDocument(page, { ...PAGE_HEADERS, ...CACHE_CONTROL }),
    [JSON_TYPE]: new FixedDocument(JSON.stringify(entries), {
      'content-type': `${JSON_TYPE}; charset=utf-8`,
      ...CACHE_CONTROL,
    }),
  };
}
