import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { ApiProblems } from '../openapi/api-problems.js';
import { headersNamed } from '../openapi/response-headers.js';
import { refTo } from '../openapi/schemas.js';
import { GatewayError } from './gateway-error.js';
import { problemEntrySchema, problemListSchema, type ProblemEntry } from './problem-document.js';
import { ALL_CODES, isKnownCode, PROBLEMS, type AnyCode } from './problem-table.js';

const [HTML, JSON_TYPE] = ['text/html', 'application/json'];
const page200 = { [HTML]: { schema: { type: 'string' as const, description: 'a page for people' } } };

/** What each error means, who must act and what to do: what `type` in a problem document leads to. */
@ApiTags('problems')
@ApiProblems()
@Controller('problems')
export class ProblemsController {
  @Get()
  @ApiOperation({
    operationId: 'listProblems',
    summary: 'Every error there is',
    description: 'A page for people; with `Accept: application/json` the same as JSON.',
  })
  @ApiOkResponse({
    description: 'all codes',
    headers: headersNamed('Cache-Control'),
    content: { [JSON_TYPE]: { schema: refTo(problemListSchema) }, ...page200 },
  })
  all(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const entries = ALL_CODES.map(toEntry);
    send(request, reply, entries, () => toListPage(entries));
  }

  @Get(':code')
  @ApiProblems(404)
  @ApiParam({ name: 'code', description: 'the `code` of a problem document', example: 'bank-timeout' })
  @ApiOperation({
    operationId: 'getProblem',
    summary: 'One error: when it happens, who must act, what to do',
    description: 'A page for people; with `Accept: application/json` the same as JSON.',
  })
  @ApiOkResponse({
    description: 'the error with this code',
    headers: headersNamed('Cache-Control'),
    content: { [JSON_TYPE]: { schema: refTo(problemEntrySchema) }, ...page200 },
  })
  one(@Param('code') code: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!isKnownCode(code))
      throw new GatewayError('not-found', 'There is no problem with this code; /problems lists all.');
    const entry = toEntry(code);
    send(request, reply, entry, () => toEntryPage(entry));
  }
}

function toEntry(code: AnyCode): ProblemEntry {
  return { code, ...PROBLEMS[code] };
}

/** A page for people, unless the caller likes JSON better. */
function send(request: FastifyRequest, reply: FastifyReply, entries: object, toPage: () => string): void {
  const type = new Negotiator({ headers: { accept: request.headers.accept } }).mediaType([HTML, JSON_TYPE]);
  if (type === undefined) {
    throw new GatewayError('not-acceptable', 'The Accept header excludes text/html and application/json.');
  }
  reply
    .header('content-type', `${type}; charset=utf-8`)
    .header('cache-control', 'public, max-age=3600')
    .header('vary', 'Accept, Origin')
    .send(type === HTML ? toPage() : JSON.stringify(entries));
}

function toListPage(entries: readonly ProblemEntry[]): string {
  const rows = entries.map(
    ({ code, status, owner, title }) =>
      `<tr><td><a href="/problems/${code}">${code}</a></td><td>${status ?? '/health'}</td><td>${owner}</td><td>${escape(title)}</td></tr>`,
  );
  return page('Error codes', `<table><tr><th>code<th>status<th>who must act<th></tr>${rows.join('')}</table>`);
}

function toEntryPage({ code, status, owner, title, when, remedy }: ProblemEntry): string {
  return page(
    title,
    `<p><code>${code}</code> · status ${status ?? '(/health only)'} · who must act: <b>${owner}</b></p><h2>When</h2><p>${marked(when)}</p><h2>What to do</h2><p>${marked(remedy)}</p><p><a href="/problems">all error codes</a></p>`,
  );
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What stands between backticks is to be typed as it is. */
const marked = (text: string) => escape(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)} – accounts-gateway</title><h1>${escape(title)}</h1>${body}</html>\n`;
}
