import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { Gauges } from './gauges.js';
import { Metrics } from './metrics.js';

/** The text of all metrics: counters, the current state, and the process. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly gauges: Gauges,
  ) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Get metrics for Prometheus',
    description: 'The text format 0.0.4 of Prometheus, whatever `Accept` asks for.',
  })
  @ApiResponse({
    status: 200,
    description: 'the metrics',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  async get(): Promise<string> {
    const texts = [this.metrics.toText(), this.gauges.toText(), processMetrics().metrics()];
    return (await Promise.all(texts)).join('');
  }
}

let processRegistry: Registry | null = null;

/** The library's default metrics, once per process and from the first scrape on: they observe Node and cannot be stopped. */
function processMetrics(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}
