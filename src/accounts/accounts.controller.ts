import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { assertAcceptsJson, createStrictTypeChooser } from '../representation/negotiation.js';
import { refTo } from '../representation/schemas.js';
import { GatewayError } from '../errors/gateway-error.js';
import { select } from '../list/select.js';
import type { Snapshot } from '../list/snapshot.js';
import { CSV_COLUMNS, toCsv } from './csv.js';
import type { JsonBody } from './encoded-responses.js';
import { FORMATS, listQuerySchema, MEDIA_TYPES, noQuerySchema, type Format, type ListQuery } from './list-query.js';
import { Responder } from './responder.js';
import { accountAnswerSchema, accountListSchema } from './response-schemas.js';

const COMMA = Buffer.from(',');
const LINE_END = Buffer.from('\n');
/** JSON where Accept has no preference. */
const chooseListType = createStrictTypeChooser([MEDIA_TYPES.json, MEDIA_TYPES.csv, MEDIA_TYPES.ndjson]);

/** The accounts as internal web apps see them, from one complete snapshot. */
@ApiTags('accounts')
@Controller('api/v1/accounts')
export class AccountsController {
  constructor(private readonly responder: Responder) {}

  @Get()
  @ApiOperation({
    operationId: 'listAccounts',
    summary: 'List accounts',
    description:
      'Returns one page as JSON. With `format` or `Accept`, returns every match as CSV or NDJSON instead. Parameter names match in any letter case.',
  })
  @ApiOkResponse({
    description: 'one page of the accounts that match; CSV and NDJSON have all of them',
    content: {
      [MEDIA_TYPES.json]: { schema: refTo(accountListSchema) },
      [MEDIA_TYPES.csv]: { schema: { type: 'string', description: `with the columns ${CSV_COLUMNS.join(', ')}` } },
      [MEDIA_TYPES.ndjson]: { schema: { type: 'string', description: 'an Account on each line' } },
    },
  })
  list(
    @Query({ schema: listQuerySchema }) query: ListQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> | undefined {
    const format = query.format ?? toListFormat(request.headers.accept);
    if (format === 'json') {
      return this.responder.sendJson(request, reply, ({ snapshot }) => toPageBody(snapshot, query));
    }
    const toParts = format === 'csv' ? csvOf : ndjsonOf;
    return this.responder.sendDownload(request, reply, format, (snapshot) => toParts(snapshot, query));
  }

  @Get(':accountId')
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
    content: { [MEDIA_TYPES.json]: { schema: refTo(accountAnswerSchema) } },
  })
  one(
    @Param('accountId') accountId: string,
    @Query({ schema: noQuerySchema }) _query: object,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> | undefined {
    assertAcceptsJson(request.headers.accept);
    return this.responder.sendJson(request, reply, async (served) => {
      const { snapshot } = served;
      const position = snapshot.positionOf(accountId);
      if (position === -1) {
        throw new GatewayError('account-not-found', 'The current snapshot has no account with this id.', {
          headers: { ...this.responder.toHeaders(served), 'cache-control': 'no-store' },
        });
      }
      const json = snapshot.json(position);
      return { parts: [Buffer.from('{"account":'), json], bytes: json.length };
    });
  }
}

/** One page of the list: `{"accounts":[…],"page":{…}`. */
async function toPageBody(snapshot: Snapshot, query: ListQuery): Promise<JsonBody> {
  const { pageNumber: number, pageSize: size, sort } = query;
  const matches = await select(snapshot, query, sort);
  const total = matches.length;
  const start = (number - 1) * size;
  const parts: Buffer[] = [Buffer.from('{"accounts":[')];
  let bytes = 0;
  for (const position of matches.subarray(start, start + size)) {
    const account = snapshot.json(position);
    if (bytes > 0) parts.push(COMMA);
    parts.push(account);
    bytes += account.length;
  }
  parts.push(Buffer.from(`],"page":${JSON.stringify({ number, size, total, hasMore: start + size < total })}`));
  return { parts, bytes };
}

/** @throws GatewayError not-acceptable */
function toListFormat(accept: string | undefined): Format {
  const type = chooseListType(accept);
  return FORMATS.find((format) => MEDIA_TYPES[format] === type) ?? 'json';
}

async function* ndjsonOf(snapshot: Snapshot, query: ListQuery): AsyncGenerator<Buffer> {
  const matches = await select(snapshot, query, query.sort);
  for (const position of matches) {
    yield snapshot.json(position);
    yield LINE_END;
  }
}

async function* csvOf(snapshot: Snapshot, query: ListQuery): AsyncGenerator<Buffer> {
  const matches = await select(snapshot, query, query.sort);
  yield* toCsv(
    matches.values().map((position) => snapshot.account(position)),
    snapshot.asOf,
    query,
  );
}
