import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { GatewayError } from '../problems/gateway-error.js';
import { problemSchema } from '../problems/problem-document.js';
import { Settings } from '../settings/settings.js';
import { accountAnswerSchema, accountListSchema } from './account.js';
import { Answers } from './answers.js';
import { readCacheDirectives } from './cache-directives.js';
import { listQuerySchema, noQuerySchema, type ListQuery } from './list-query.js';
import type { Encoding, Rendered } from './rendered.js';
import { toSnapshotHeaders } from './snapshot-headers.js';
import { SnapshotKeeper, type ServedSnapshot } from './snapshot-keeper.js';

const ENCODINGS: Encoding[] = ['br', 'gzip', 'identity'];

/** The accounts as internal web apps see them, from one complete snapshot. */
@ApiTags('accounts')
@ApiResponse({ status: '4XX', description: 'an error of the caller', standardSchema: problemSchema })
@ApiResponse({
  status: '5XX',
  description: 'the bank, the way to it, or this service; `owner` says who must act',
  standardSchema: problemSchema,
})
@Controller('api/v1/accounts')
export class AccountsController {
  constructor(
    private readonly keeper: SnapshotKeeper,
    private readonly answers: Answers,
    private readonly settings: Settings,
  ) {}

  @Get()
  @ApiOkResponse({ description: 'one page of the accounts, by name', standardSchema: accountListSchema })
  async list(
    @Query({ schema: listQuerySchema }) query: ListQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const served = await this.#serve(request);
    return this.#send(request, reply, served, this.answers.list(served, query));
  }

  @Get(':accountId')
  @ApiParam({ name: 'accountId', description: 'the `id` of an account' })
  @ApiOkResponse({ description: 'one account', standardSchema: accountAnswerSchema })
  async one(
    @Param('accountId') accountId: string,
    @Query({ schema: noQuerySchema }) _query: object,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const served = await this.#serve(request);
    const account = served.snapshot.byId.get(accountId);
    if (!account)
      throw new GatewayError('account-not-found', 'The accounts last read from the bank have none with this id.');
    return this.#send(request, reply, served, this.answers.one(served, account));
  }

  async #serve(request: FastifyRequest): Promise<ServedSnapshot> {
    if (!new Negotiator(request.raw).mediaType(['application/json'])) {
      throw new GatewayError(
        'not-acceptable',
        'This route answers application/json, which the Accept header excludes.',
      );
    }
    const served = await this.keeper.get(readCacheDirectives(request.headers['cache-control']));
    request.state.cache = served.stale ? 'stale' : served.cache;
    if (served.readingId) request.state.readingId = served.readingId;
    return served;
  }

  async #send(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, rendered: Rendered) {
    reply.headers(toSnapshotHeaders(served, this.settings.snapshot.freshMs)).header('etag', rendered.etag);
    if (matchesTag(request.headers['if-none-match'], rendered.etag)) return reply.code(304).send();
    const accepted = new Negotiator(request.raw).encoding(ENCODINGS) as Encoding | undefined;
    const { encoding, body } = await rendered.as(accepted ?? 'identity');
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }
}

/** Weak comparison of If-None-Match (RFC 9110 §13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}
