import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { assertAcceptsJson } from '../representation/negotiation.js';
import { readQuery } from '../representation/read-query.js';
import { refTo } from '../representation/schemas.js';
import { DOCUMENT_SCHEMAS } from '../list/document-schemas.js';
import { CSV_COLUMNS } from '../list/csv.js';
import { chooseFormat, filtersSchema, listQuerySchema, MEDIA_TYPES, noQuerySchema } from './list-query.js';
import { Responder, type Sent } from './responder.js';

@ApiTags('accounts')
@Controller('api/v1')
export class AccountsController {
  constructor(private readonly responder: Responder) {}

  @Get('accounts')
  @ApiOperation({
    operationId: 'listAccounts',
    summary: 'List accounts',
    description: 'Returns one page as JSON, or every match as CSV or NDJSON. Parameter names match in any letter case.',
  })
  @ApiOkResponse({
    description: 'one page of the accounts that match; CSV and NDJSON have all of them',
    content: {
      [MEDIA_TYPES.json]: { schema: refTo(DOCUMENT_SCHEMAS.accounts) },
      [MEDIA_TYPES.csv]: { schema: { type: 'string', description: `with the columns ${CSV_COLUMNS.join(', ')}` } },
      [MEDIA_TYPES.ndjson]: { schema: { type: 'string', description: 'an Account on each line' } },
    },
  })
  list(
    @Query({ schema: listQuerySchema }) _query: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Sent {
    const query = readQuery(request, listQuerySchema);
    const format = query.format ?? chooseFormat(request.headers.accept);
    return format === 'json'
      ? this.responder.sendJson(request, reply, query.json)
      : this.responder.sendExport(request, reply, query[format]);
  }

  @Get('accounts/:accountId')
  @ApiParam({
    name: 'accountId',
    description: 'the `id` of an account',
    example: 'eba213f9-7469-8d7a-b5f9-4135ef61100f',
  })
  @ApiOperation({
    operationId: 'getAccount',
    summary: 'Get one account',
    description:
      'The account, with the same fields as in the list. 404 `account-not-found` if the cached snapshot has no account with this id.',
  })
  @ApiOkResponse({
    description: 'one account',
    content: { [MEDIA_TYPES.json]: { schema: refTo(DOCUMENT_SCHEMAS.account) } },
  })
  one(
    @Param('accountId') accountId: string,
    @Query({ schema: noQuerySchema }) _query: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Sent {
    readQuery(request, noQuerySchema);
    assertAcceptsJson(request.headers.accept);
    return this.responder.sendJson(request, reply, { kind: 'account', id: accountId });
  }

  @Get('balances')
  @ApiOperation({
    operationId: 'getBalances',
    summary: 'Get totals by currency',
    description:
      'The CurrentBalance entries of the accounts that match, added exactly by their own currency; never a sum across currencies.',
  })
  @ApiOkResponse({
    description: 'the totals, ordered by currency',
    content: { [MEDIA_TYPES.json]: { schema: refTo(DOCUMENT_SCHEMAS.totals) } },
  })
  totals(
    @Query({ schema: filtersSchema }) _query: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Sent {
    const filters = readQuery(request, filtersSchema);
    assertAcceptsJson(request.headers.accept);
    return this.responder.sendJson(request, reply, { kind: 'totals', filters });
  }
}
