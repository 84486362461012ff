import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { context, propagation } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { VERSION } from '../config/build-output.js';
import { within } from '../time/deadline.js';
import { traceWith } from './spans.js';

const FLUSH_MS = 1000;
const MAX_VALUE_LENGTH = 200;

export type Tracing = NonNullable<Awaited<ReturnType<typeof startTracing>>>;

/**
 * Sends the spans of spans.ts to an OTLP collector if the environment names one and does not turn traces off
 * (docs/logs.md#traces); else returns null and loads no package of the SDK. The exporter reads its variables, including the
 * headers, from the process environment at this point.
 * @param lookup resolves the collector's name, so that its silent name server costs nobody else a lookup
 */
export async function startTracing(env: NodeJS.ProcessEnv, logger: Logger, lookup?: LookupFunction) {
  if (isTurnedOff(env)) return null;
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint) return null;
  // the exporter would fall back to localhost if it could not parse the address
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    const warning =
      'OTEL_EXPORTER_OTLP_ENDPOINT or …_TRACES_ENDPOINT is not an http or https address; no traces are sent';
    logger.warn({ event: 'config.warning' }, warning);
    return null;
  }
  const [sdk, { AsyncLocalStorageContextManager }, core, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const service = {
    'service.name': 'accounts-gateway',
    'service.version': VERSION,
    'service.instance.id': randomUUID(),
  };
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes(service))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new OTLPTraceExporter(lookup && { httpAgentOptions: toAgentOptions(env, lookup) }),
      }),
    ],
  });
  core.setGlobalErrorHandler(reportOnce(logger));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  traceWith(provider.getTracer('accounts-gateway'));
  return {
    /** Sends the remaining spans. */
    stop: async (withinMs = FLUSH_MS): Promise<void> => {
      traceWith(undefined);
      context.disable();
      propagation.disable();
      await within(
        provider.shutdown().catch(() => undefined),
        withinMs,
      );
    },
  };
}

/** The exporter's own agent options with our lookup: it reads the same variables, but takes all options or none. */
function toAgentOptions(env: NodeJS.ProcessEnv, lookup: LookupFunction) {
  const read = (name: string) => {
    const path = env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] ?? env[`OTEL_EXPORTER_OTLP_${name}`];
    try {
      return path ? readFileSync(path) : undefined;
    } catch {
      // the first failed export reports it
      return undefined;
    }
  };
  return {
    keepAlive: true,
    lookup,
    ca: read('CERTIFICATE'),
    cert: read('CLIENT_CERTIFICATE'),
    key: read('CLIENT_KEY'),
  };
}

const isTurnedOff = (env: NodeJS.ProcessEnv): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' ||
  env['OTEL_TRACES_EXPORTER'] === 'none' ||
  env['OTEL_TRACES_SAMPLER'] === 'always_off';

/** Logs the first failed export without its message, which may quote addresses and responses. */
function reportOnce(logger: Logger): (error: unknown) => void {
  let reported = false;
  return (error) => {
    if (reported) return;
    reported = true;
    // a system error code, an HTTP status, or the name of the error's class
    const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
    logger.warn(
      { event: 'traces.unavailable', failure: String(code ?? name) },
      'the collector accepts no traces; spans are dropped until it does',
    );
  };
}
