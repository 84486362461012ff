import { randomUUID } from 'node:crypto';
import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Environment } from '../config/environment.js';
import { within } from '../time/deadline.js';
import { VERSION } from '../config/version.js';
import { isWanted, toNumber, toSampler, type Warn } from './tracing-variables.js';

/** The longest that a stop waits for the last spans to be sent. */
const FLUSH_MS = 1000;
/** Minimum time between two reports of an unavailable collector, ms. */
const REPORT_EVERY_MS = 3_600_000;
const SUCCESS = 0;
const MAX_VALUE_LENGTH = 200;
/** Spans that wait to be sent; more are dropped. */
const QUEUE = { default: 2048, max: 65_536 };
const DELAY_MS = { default: 5000, max: 60_000 };

/** The export of spans to a collector. */
export interface Tracing {
  /** Sends the remaining spans, by default for at most 1 s; false if some were not sent by then. */
  stop(withinMs?: number): Promise<boolean>;
}

/**
 * Sends the spans of spans.ts to an OTLP collector if the environment names one (docs/logs.md#traces); else returns null
 * and loads no package of the SDK. Logs a warning for variables that cannot be used. The exporter reads its own variables, its
 * headers among them, from the environment of the process, now.
 */
export async function startTracing(env: Environment, logger: Logger): Promise<Tracing | null> {
  const warn: Warn = (warning) => logger.warn({ event: 'config.warning' }, warning);
  if (!isWanted(env, warn)) return null;
  const [
    sdk,
    { AsyncLocalStorageContextManager },
    { W3CTraceContextPropagator },
    { detectResources, envDetector, defaultResource, resourceFromAttributes },
    { OTLPTraceExporter },
  ] = await Promise.all([
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
  const maxQueueSize = toNumber(env, 'OTEL_BSP_MAX_QUEUE_SIZE', QUEUE, warn);
  const provider = new sdk.TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(service))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: toSampler(env, sdk, warn),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: reported(
          explained(() => new OTLPTraceExporter(), warn),
          logger,
        ),
        maxQueueSize,
        maxExportBatchSize: Math.min(512, maxQueueSize),
        scheduledDelayMillis: toNumber(env, 'OTEL_BSP_SCHEDULE_DELAY', DELAY_MS, warn),
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    stop: async (withinMs = FLUSH_MS) => {
      trace.disable();
      context.disable();
      propagation.disable();
      const sent = await within(
        provider.shutdown().then(
          () => true,
          () => false,
        ),
        withinMs,
      );
      return sent === true;
    },
  };
}

/**
 * Calls `make`, and warns of each variable that the SDK ignores. The SDK's own messages are dropped, because they may quote
 * values.
 */
function explained<T>(make: () => T, warn: Warn): T {
  const quiet = () => undefined;
  const onWarning = (message: string) => {
    const plain = /^(Configuration: [A-Z_]+ is invalid|Failed to read [a-z ]+)/.exec(message)?.[0];
    if (plain !== undefined) warn(`OpenTelemetry: ${plain}`);
  };
  diag.setLogger(
    { error: quiet, warn: onWarning, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  try {
    return make();
  } finally {
    diag.disable();
  }
}

/**
 * Wraps an exporter and logs its failures, at most once an hour, without their messages, which may quote addresses and
 * responses.
 */
function reported(exporter: SpanExporter, logger: Logger): SpanExporter {
  let failing = false;
  let reportedAt = -Infinity;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        const now = performance.now();
        if (failed && !failing && now - reportedAt > REPORT_EVERY_MS) {
          reportedAt = now;
          logger.warn(
            { event: 'traces.unavailable', failure: toFailure(result.error) },
            'the collector accepts no traces; spans are dropped until it does',
          );
        }
        failing = failed;
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** A system error code, an HTTP status, or the name of the error's class. */
function toFailure(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? String(code) : String(name ?? 'unknown');
}
