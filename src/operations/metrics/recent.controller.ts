import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { refTo } from '../../representation/schemas.js';
import { Callers } from './callers.js';
import { RecentEvents, EVERY_SECONDS, RecentHistory } from './recent-history.js';
import { recentSchema } from './recent-schema.js';

/** The last hour, for people and for pages that draw it (docs/logs.md#the-last-hour). */
@ApiTags('health')
@Controller('health')
export class RecentController {
  constructor(
    private readonly history: RecentHistory,
    private readonly callers: Callers,
    private readonly events: RecentEvents,
  ) {}

  @Get('recent')
  @ApiOperation({
    operationId: 'getRecent',
    summary: 'The last hour',
    description:
      'Kept in memory since the start of the process. Counts and durations in points of 10 s, callers by name, and notable events.',
  })
  @ApiResponse({
    status: 200,
    description: 'the last hour',
    content: { 'application/json': { schema: refTo(recentSchema) } },
  })
  get() {
    const { points, present } = this.history;
    return { everySeconds: EVERY_SECONDS, points, present, clients: this.callers.clients, events: this.events.events };
  }
}
