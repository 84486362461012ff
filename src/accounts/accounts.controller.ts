import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiProblems, FROM_THE_BANK } from '../openapi/api-problems.js';
import { refTo } from '../openapi/schemas.js';
import { GatewayError } from '../problems/gateway-error.js';
import { select } from '../snapshot/select.js';
import type { ServedSnapshot } from '../snapshot/snapshot-cache.js';
import { sizeOf, toCsvParts, toNdjsonParts, toPageParts } from './account-bodies.js';
import { ApiNotModified, SNAPSHOT_HEADERS } from './api-responses.js';
import { CachedResponses } from './cached-responses.js';
import { MayBeCached } from './cached-routes.js';
import { chooseJson, chooseListFormat, MEDIA_TYPES, toFormat } from './content-negotiation.js';
import { CSV_COLUMNS } from './csv.js';
import { toEntityTag } from './encoded-response.js';
import { listQuerySchema, noQuerySchema, toSort, type ListQuery } from './list-query.js';
import { Responder } from './responder.js';
import { accountAnswerSchema, accountListSchema } from './response-schemas.js';

/** The accounts as internal web apps see them, from one complete snapshot. */
@ApiTags('accounts')
@ApiNotModified()
@ApiProblems(...FROM_THE_BANK)
@Controller('api/v1/accounts')
export class AccountsController {
  constructor(
    private readonly responder: Responder,
    private readonly responses: CachedResponses,
  ) {}

  @Get()
  @MayBeCached()
  @ApiOperation({
    operationId: 'listAccounts',
    summary: 'The accounts, filtered, sorted, paged',
    description:
      'One page as JSON. By `format`, or by `Accept`, every match as CSV or NDJSON instead. Parameter names match in any letter case.',
  })
  @ApiOkResponse({
    description: 'one page of the accounts that match; as CSV or NDJSON all of them',
    headers: SNAPSHOT_HEADERS,
    content: {
      [MEDIA_TYPES.json]: { schema: refTo(accountListSchema) },
      [MEDIA_TYPES.csv]: { schema: { type: 'string', description: `with the columns ${CSV_COLUMNS.join(', ')}` } },
      [MEDIA_TYPES.ndjson]: { schema: { type: 'string', description: 'an Account on each line' } },
    },
  })
  async list(
    @Query({ schema: listQuerySchema }) query: ListQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const format = query.format ?? toFormat(request.headers.accept, chooseListFormat);
    const served = await this.responder.serve(request);
    if (format === 'json') await this.#sendPage(query, request, reply, served);
    else await this.#sendAll(format, query, request, reply, served);
  }

  @Get(':accountId')
  @MayBeCached()
  @ApiParam({
    name: 'accountId',
    description: 'the `id` of an account',
    example: 'eba213f9-7469-8d7a-b5f9-4135ef61100f',
  })
  @ApiProblems(404)
  @ApiOperation({
    operationId: 'getAccount',
    summary: 'One account by its id',
    description: 'The account as the list has it. 404 `account-not-found` when the last reading had none with this id.',
  })
  @ApiOkResponse({
    description: 'one account',
    headers: SNAPSHOT_HEADERS,
    content: { [MEDIA_TYPES.json]: { schema: refTo(accountAnswerSchema) } },
  })
  async one(
    @Param('accountId') accountId: string,
    @Query({ schema: noQuerySchema }) _query: object,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    toFormat(request.headers.accept, chooseJson);
    const served = await this.responder.serve(request);
    const { snapshot } = served;
    const position = snapshot.positionOf(accountId);
    if (position === -1) {
      throw new GatewayError('account-not-found', 'The accounts last read from the bank have none with this id.', {
        headers: this.responder.toErrorHeaders(served),
      });
    }
    const json = snapshot.json(position);
    await this.responses.send(request, reply, served, {
      key: `one ${accountId}`,
      choose: chooseJson,
      make: async () => ({ parts: [Buffer.from('{"account":'), json], bytes: json.length }),
    });
  }

  async #sendPage(query: ListQuery, request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot) {
    const { pageNumber: number, pageSize: size, sort, format, separator: _, decimal: __, ...filters } = query;
    const { snapshot } = served;
    await this.responses.send(request, reply, served, {
      key: `list ${JSON.stringify([filters, sort, number, size])}`,
      choose: format ? null : chooseListFormat,
      make: async () => {
        const selection = await select(snapshot, filters, toSort(sort));
        const { total } = selection;
        const start = (number - 1) * size;
        const positions = selection.slice(start, size);
        const page = { number, size, total, hasMore: start + size < total };
        return { parts: toPageParts(snapshot, positions, page), bytes: sizeOf(snapshot, positions) };
      },
    });
  }

  async #sendAll(
    format: 'csv' | 'ndjson',
    query: ListQuery,
    request: FastifyRequest,
    reply: FastifyReply,
    served: ServedSnapshot,
  ): Promise<void> {
    const { sort, separator, decimal, pageNumber: _, pageSize: __, format: ___, ...filters } = query;
    const { snapshot, stale } = served;
    const selection = await select(snapshot, filters, toSort(sort));
    const positions = selection.slice(0, selection.total);
    const dialect = { separator, decimal };
    const what = JSON.stringify([format, filters, sort, dialect, stale, snapshot.complete]);
    this.responder.sendStream(request, reply, served, {
      format,
      etag: toEntityTag([what, snapshot.digest]),
      parts: format === 'csv' ? toCsvParts(snapshot, positions, dialect) : toNdjsonParts(snapshot, positions),
    });
  }
}
