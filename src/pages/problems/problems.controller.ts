import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refTo } from '../../representation/schemas.js';
import { createStrictTypeChooser } from '../../representation/negotiation.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { problemEntrySchema, problemListSchema, type ProblemEntry } from '../../errors/problem-document.js';
import { toCodePage, toListPage } from './problem-pages.js';
import { ALL_CODES, isKnownCode, PROBLEMS, type AnyCode } from '../../errors/problem-table.js';

const HTML = 'text/html';
const JSON_TYPE = 'application/json';
const chooseType = createStrictTypeChooser([HTML, JSON_TYPE]);
const page200 = { [HTML]: { schema: { type: 'string' as const, description: 'a page for people' } } };

/** The page of each error, which `type` in a problem document leads to. */
@ApiTags('problems')
@Controller('problems')
export class ProblemsController {
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
  all(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const entries = ALL_CODES.map(toEntry);
    send(request, reply, entries, toListPage);
  }

  @Get(':code')
  @ApiParam({ name: 'code', description: 'the `code` of a problem document', example: 'bank-timeout' })
  @ApiOperation({
    operationId: 'getProblem',
    summary: 'Get the meaning, owner and remedy of an error',
    description: 'A page for people, or JSON with `Accept: application/json`.',
  })
  @ApiOkResponse({
    description: 'the error with this code',
    content: { [JSON_TYPE]: { schema: refTo(problemEntrySchema) }, ...page200 },
  })
  one(@Param('code') code: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!isKnownCode(code)) throw new GatewayError('not-found', 'No problem has this code. /problems lists all.');
    send(request, reply, toEntry(code), () => toCodePage(code));
  }
}

function toEntry(code: AnyCode): ProblemEntry {
  return { code, ...PROBLEMS[code] };
}

/** HTML, unless the caller prefers JSON. */
function send(request: FastifyRequest, reply: FastifyReply, entries: object, toPage: () => string): void {
  const type = chooseType(request.headers.accept);
  reply
    .headers(type === HTML ? PAGE_HEADERS : {})
    .headers({ 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=3600' })
    .send(type === HTML ? toPage() : JSON.stringify(entries));
}
