import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../problems/gateway-error.js';
import { accountAnswerSchema, accountListSchema, type Account } from './account.js';
import { Answers } from './answers.js';
import { ApiProblems } from './api-problems.js';
import { CSV_COLUMNS } from './csv.js';
import { listQuerySchema, noQuerySchema, toSort, type ListQuery } from './list-query.js';
import { MEDIA_TYPES, chooseJson, chooseListFormat, toFormat } from './media-type.js';
import { toOpenApiSchema } from './openapi-schema.js';
import { ReadyAnswers } from './ready-answers.js';
import { toEntityTag } from './rendered.js';
import { Responder } from './responder.js';
import { select } from './selection.js';
import type { Snapshot } from './snapshot.js';

/** The accounts as internal web apps see them, from one complete snapshot. */
@ApiTags('accounts')
@ApiProblems()
@Controller('api/v1/accounts')
export class AccountsController {
  constructor(
    private readonly responder: Responder,
    private readonly answers: Answers,
    private readonly readyAnswers: ReadyAnswers,
  ) {}

  @Get()
  @ApiOkResponse({
    description: 'one page of the accounts that match; as CSV or NDJSON all of them',
    content: {
      [MEDIA_TYPES.json]: { schema: toOpenApiSchema(accountListSchema) },
      [MEDIA_TYPES.csv]: { schema: { type: 'string', description: `with the columns ${CSV_COLUMNS.join(', ')}` } },
      [MEDIA_TYPES.ndjson]: { schema: { type: 'string', description: 'an Account on each line' } },
    },
  })
  async list(
    @Query({ schema: listQuerySchema }) query: ListQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const { format: wanted, pageNumber, pageSize, sort, ...filters } = query;
    const format = wanted ?? toFormat(request.headers.accept, chooseListFormat);
    const served = await this.responder.serve(request);
    if (format === 'json') {
      const question = `list ${JSON.stringify([filters, sort, pageNumber, pageSize])}`;
      const answer = await this.answers.get(served, question, (snapshot) => toPage(snapshot, query));
      this.readyAnswers.remember(request, question, wanted ? 'any' : 'list');
      return this.responder.send(request, reply, served, answer);
    }
    const { snapshot, stale } = served;
    const digest = await snapshot.facets.digest.get();
    const selection = await select(snapshot, filters, toSort(sort));
    return this.responder.sendStream(request, reply, served, {
      format,
      positions: selection.slice(0, selection.total),
      etag: toEntityTag(JSON.stringify([format, filters, sort, digest, stale, snapshot.complete])),
    });
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
    toFormat(request.headers.accept, chooseJson);
    const served = await this.responder.serve(request);
    const account = served.snapshot.find(accountId);
    if (!account) {
      throw new GatewayError('account-not-found', 'The accounts last read from the bank have none with this id.', {
        headers: this.responder.toErrorHeaders(served),
      });
    }
    const question = `one ${accountId}`;
    const answer = await this.answers.get(served, question, () => ({ account }));
    this.readyAnswers.remember(request, question, 'json');
    return this.responder.send(request, reply, served, answer);
  }
}

async function toPage(snapshot: Snapshot, { pageNumber: number, pageSize: size, sort, ...filters }: ListQuery) {
  const selection = await select(snapshot, filters, toSort(sort));
  const { total } = selection;
  const start = (number - 1) * size;
  const accounts = Array.from(selection.slice(start, size), (position) => snapshot.accounts[position] as Account);
  return { accounts, page: { number, size, total, hasMore: start + size < total } };
}
