import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Registry, type Metric } from '@prometheus-io/client';
import { Gauges } from './gauges.js';
import { Metrics } from './metrics.js';

interface RenderedMetrics {
  readonly contentType: string;
  readonly text: string;
}

/** The text of all metrics: what was counted, the state at this moment, and the process. */
@Injectable()
export class Exposition {
  constructor(
    private readonly metrics: Metrics,
    private readonly gauges: Gauges,
  ) {}

  /** OpenMetrics, or the text format of Prometheus. Takes milliseconds. */
  async render(openMetrics: boolean): Promise<RenderedMetrics> {
    const whole = new Registry(openMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE);
    for (const registry of [this.metrics.registry, this.gauges.registry, processMetrics()]) {
      // for OpenMetrics the library renames the counters it is given, and would leave them so
      for (const metric of registry.getMetricsAsArray()) whole.registerMetric(Object.create(metric) as Metric);
    }
    await this.gauges.update();
    return { contentType: whole.contentType, text: await whole.metrics() };
  }
}

let processRegistry: Registry | null = null;

/** The default metrics, once per process and from the first scrape on: they observe Node and cannot be stopped. */
function processMetrics(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}
