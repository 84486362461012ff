import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Registry } from '@prometheus-io/client';
import { Exposition } from './exposition.js';

@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly exposition: Exposition) {}

  @Get()
  @Header('cache-control', 'no-store')
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Get metrics for Prometheus',
    description: 'The text format 0.0.4 of Prometheus, whatever `Accept` asks for.',
  })
  @ApiResponse({
    status: 200,
    description: 'the metrics of the last second',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  get(): Promise<string> {
    return this.exposition.render();
  }
}
