import { collectDefaultMetrics, Registry } from '@prometheus-io/client';

let registry: Registry | null = null;

/**
 * The figures of this process and of Node. One for all apps of a process, and not before somebody asks: they observe garbage
 * collections and the event loop from then on, and cannot be told to stop.
 */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
