import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { Gauges } from './gauges.js';
import { Metrics } from './metrics.js';

const KEPT_MS = 1000;

/** The text of all metrics: counters, the current state, and the process. Cached for a second. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  #kept: { readonly text: Promise<string>; readonly at: number } | null = null;

  constructor(
    private readonly metrics: Metrics,
    private readonly gauges: Gauges,
  ) {}

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
    const at = performance.now();
    if (!this.#kept || at - this.#kept.at >= KEPT_MS) this.#kept = { text: this.#build(), at };
    return this.#kept.text;
  }

  async #build(): Promise<string> {
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
