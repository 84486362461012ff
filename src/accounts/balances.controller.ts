import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchAccounts } from '../snapshot/select.js';
import { toTotals } from '../snapshot/totals.js';
import { ApiProblems } from './api-problems.js';
import { CachedResponses } from './cached-responses.js';
import { MayBeCached } from './cached-routes.js';
import { chooseJson, toFormat } from './content-negotiation.js';
import { filtersSchema, type FilterQuery } from './list-query.js';
import { Responder } from './responder.js';
import { balancesAnswerSchema } from './response-schemas.js';

/** What there is in each currency, over the accounts that match. */
@ApiTags('accounts')
@ApiProblems()
@Controller('api/v1/balances')
export class BalancesController {
  constructor(
    private readonly responder: Responder,
    private readonly responses: CachedResponses,
  ) {}

  @Get()
  @MayBeCached()
  @ApiOkResponse({
    description: 'the CurrentBalance entries, added exactly for each currency of theirs, ordered by it',
    standardSchema: balancesAnswerSchema,
  })
  async totals(
    @Query({ schema: filtersSchema }) filters: FilterQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    toFormat(request.headers.accept, chooseJson);
    const served = await this.responder.serve(request);
    const { snapshot } = served;
    await this.responses.send(request, reply, served, {
      key: `balances ${JSON.stringify(filters)}`,
      choose: chooseJson,
      make: () => {
        const totals = Buffer.from(`{"totals":${JSON.stringify(toTotals(snapshot, matchAccounts(snapshot, filters)))}`);
        return { parts: [totals], bytes: totals.length };
      },
    });
  }
}
