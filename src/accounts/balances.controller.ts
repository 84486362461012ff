import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ANSWER_SCHEMAS } from '../list/answer-schemas.js';
import { assertAcceptsJson } from '../representation/negotiation.js';
import { readQuery } from '../representation/read-query.js';
import { refTo } from '../representation/schemas.js';
import { filtersSchema, MEDIA_TYPES } from './list-query.js';
import { Responder } from './responder.js';

/** Totals by currency of the accounts that match. */
@ApiTags('accounts')
@Controller('api/v1/balances')
export class BalancesController {
  constructor(private readonly responder: Responder) {}

  @Get()
  @ApiOperation({
    operationId: 'getBalances',
    summary: 'Get totals by currency',
    description:
      'The CurrentBalance entries of the accounts that match, added exactly by their own currency; never a sum across currencies.',
  })
  @ApiOkResponse({
    description: 'the totals, ordered by currency',
    content: { [MEDIA_TYPES.json]: { schema: refTo(ANSWER_SCHEMAS.totals) } },
  })
  totals(
    @Query({ schema: filtersSchema }) _query: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void | Promise<void> {
    const filters = readQuery(request, filtersSchema);
    assertAcceptsJson(request.headers.accept);
    return this.responder.sendJson(request, reply, { kind: 'totals', filters });
  }
}
