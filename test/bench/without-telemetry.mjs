import { registerHooks } from 'node:module';

// an empty module in place of the one that counts, for a process that is told to `--import` this
registerHooks({
  load: (url, context, next) =>
    url.endsWith('/telemetry/telemetry.module.js')
      ? { format: 'module', source: 'export class TelemetryModule {}', shortCircuit: true }
      : next(url, context),
});
