import { Controller, Get, Header, Headers, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { createTypeChooser } from '../../representation/negotiation.js';
import { Exposition } from './exposition.js';

const OPEN_METRICS = 'application/openmetrics-text';
/** Text where neither is accepted: never a 406, as scrapers expect. */
const chooseMetricsType = createTypeChooser(['text/plain', OPEN_METRICS]);
const text = { schema: { type: 'string' } } as const;

@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly exposition: Exposition) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Get metrics for Prometheus',
    description:
      'OpenMetrics if `Accept` prefers it, else the text format of Prometheus. Never a 406, as scrapers expect.',
  })
  @ApiResponse({
    status: 200,
    description: 'the metrics at this moment',
    content: { 'text/plain': text, [OPEN_METRICS]: text },
  })
  async get(@Headers('accept') accept: string | undefined, @Res({ passthrough: true }) reply: FastifyReply) {
    const { contentType, text } = await this.exposition.render(chooseMetricsType(accept) === OPEN_METRICS);
    reply.type(contentType);
    return text;
  }
}
