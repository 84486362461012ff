import { Controller, Query, Req, Res, Sse, SseSignal, type MessageEvent } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY, type Observable } from 'rxjs';
import { ApiProblems, GUARDED } from '../../openapi/api-problems.js';
import { headersNamed } from '../../openapi/response-headers.js';
import { refTo } from '../../openapi/schemas.js';
import { assertEventStream, EVENT_STREAM } from '../content-negotiation.js';
import { filtersSchema, type FilterQuery } from '../list-query.js';
import { ChangeFeed } from './change-feed.js';
import { MAX_WAITING_BYTES } from './listener.js';
import { plainEventSchema, snapshotEventSchema, stateEventSchema } from './event-schemas.js';

/** What changes, as it changes. */
@ApiTags('accounts')
@ApiProblems(...GUARDED)
@Controller('api/v1/events')
export class EventsController {
  constructor(private readonly feed: ChangeFeed) {}

  @Sse('', { maxPendingDataLength: MAX_WAITING_BYTES })
  @ApiOperation({
    operationId: 'watchAccounts',
    summary: 'What changes, as it changes',
    description:
      'Server-sent events for the accounts that match: `snapshot` first and after each reading that changed them, `state` when the bank fails or is well again, `reset` when it is not known what changed since `Last-Event-ID`, `stopping` before the end.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'the `id` of the last event that was seen; an `EventSource` sends it by itself',
    schema: { type: 'string', example: 'N2VjYjE3ZDQ5YmQ5NDdjYmE4YjFhZDUwYzA0NmI3ZTM' },
  })
  @ApiOkResponse({
    description: 'events without end; the schema is that of their `data`',
    headers: headersNamed('Cache-Control'),
    content: {
      [EVENT_STREAM]: { schema: { anyOf: [snapshotEventSchema, stateEventSchema, plainEventSchema].map(refTo) } },
    },
  })
  watch(
    @Query({ schema: filtersSchema }) filters: FilterQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @SseSignal() signal: AbortSignal,
  ): Observable<MessageEvent> {
    assertEventStream(request.headers.accept);
    // its headers are all that is asked for
    if (request.method === 'HEAD') return EMPTY;
    const lastEventId = request.headers['last-event-id'];
    return this.feed.open({ filters, lastEventId: lastEventId?.toString(), reply, signal });
  }
}
