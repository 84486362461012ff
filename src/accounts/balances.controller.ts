import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Answers } from './answers.js';
import { ApiProblems } from './api-problems.js';
import { filtersSchema, type Filters } from './list-query.js';
import { chooseJson, toFormat } from './media-type.js';
import { createPause } from './pause.js';
import { ReadyAnswers } from './ready-answers.js';
import { Responder } from './responder.js';
import { matchAccounts } from './selection.js';
import type { Snapshot } from './snapshot.js';
import { balancesAnswerSchema, toTotals } from './totals.js';

/** What there is in each currency, over the accounts that match. */
@ApiTags('accounts')
@ApiProblems()
@Controller('api/v1/balances')
export class BalancesController {
  constructor(
    private readonly responder: Responder,
    private readonly answers: Answers,
    private readonly readyAnswers: ReadyAnswers,
  ) {}

  @Get()
  @ApiOkResponse({
    description: 'the CurrentBalance entries, added exactly for each currency of theirs, ordered by it',
    standardSchema: balancesAnswerSchema,
  })
  async totals(
    @Query({ schema: filtersSchema }) filters: Filters,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    toFormat(request.headers.accept, chooseJson);
    const served = await this.responder.serve(request);
    const question = `balances ${JSON.stringify(filters)}`;
    const answer = await this.answers.get(served, question, (snapshot) => toData(snapshot, filters));
    this.readyAnswers.remember(request, question, 'json');
    return this.responder.send(request, reply, served, answer);
  }
}

async function toData(snapshot: Snapshot, filters: Filters) {
  const mask = await matchAccounts(snapshot, filters);
  const accounts = mask ? snapshot.accounts.filter((_account, position) => mask[position] === 1) : snapshot.accounts;
  return { totals: await toTotals(accounts, createPause()) };
}
