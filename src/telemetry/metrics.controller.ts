import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiProblems } from '../openapi/api-problems.js';
import { headersNamed } from '../openapi/response-headers.js';
import { Metrics, prefersOpenMetrics } from './metrics.js';

const text = { schema: { type: 'string' } } as const;

/** The figures for Prometheus (docs/monitoring.md). */
@ApiTags('health')
@ApiProblems()
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Figures for Prometheus',
    description:
      'OpenMetrics for who prefers it by `Accept`, else the text format of Prometheus; never a 406, as scrapers expect.',
  })
  @ApiResponse({
    status: 200,
    description: 'the figures at this moment',
    headers: headersNamed('Cache-Control'),
    content: { 'text/plain': text, 'application/openmetrics-text': text },
  })
  async get(@Headers('accept') accept: string | undefined, @Res() reply: FastifyReply) {
    const { contentType, text } = await this.metrics.render(prefersOpenMetrics(accept));
    return reply
      .header('content-type', contentType)
      .header('cache-control', 'no-store')
      .header('vary', 'Accept, Origin')
      .send(Buffer.from(text));
  }
}
