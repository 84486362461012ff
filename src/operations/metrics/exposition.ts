import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { Gauges } from './gauges.js';
import { Metrics } from './metrics.js';
import { keepASecond } from './keep-a-second.js';

/** The text of all metrics (format 0.0.4): what was counted, the state at this moment, and the process. Kept for a second. */
@Injectable()
export class Exposition {
  readonly render = keepASecond(async () => {
    const registries = [this.metrics.registry, this.gauges.registry, processMetrics()];
    const texts = await Promise.all(registries.map((registry) => registry.metrics()));
    return [this.metrics.requestDurations.toText(), ...texts].join('\n');
  });

  constructor(
    private readonly metrics: Metrics,
    private readonly gauges: Gauges,
  ) {}
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
