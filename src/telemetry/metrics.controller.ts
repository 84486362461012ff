import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';
import { ApiProblems } from '../openapi/api-problems.js';
import { headersNamed } from '../openapi/response-headers.js';
import { Metrics } from './metrics.js';

const OPEN_METRICS = 'application/openmetrics-text';
const text = { schema: { type: 'string' } } as const;

@ApiTags('health')
@ApiProblems()
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Get metrics for Prometheus',
    description:
      'OpenMetrics if `Accept` prefers it, else the text format of Prometheus. Never a 406, as scrapers expect.',
  })
  @ApiResponse({
    status: 200,
    description: 'the metrics at this moment',
    headers: headersNamed('Cache-Control'),
    content: { 'text/plain': text, [OPEN_METRICS]: text },
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

/** The parameters of a media type, such as `version`, make no difference. */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  const ranges = (accept ?? '').replaceAll(/;\s*(?!q=)[^;,]+/g, '');
  return new Negotiator({ headers: { accept: ranges } }).mediaType(['text/plain', OPEN_METRICS]) === OPEN_METRICS;
}
