import { randomUUID } from 'node:crypto';
import { context, propagation } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { z } from 'zod';
import { VERSION } from '../config/version.js';
import { within } from '../time/deadline.js';
import { traceWith } from './spans.js';

/** The longest that a stop waits for the last spans to be sent. */
const FLUSH_MS = 1000;
const SUCCESS = 0;
const MAX_VALUE_LENGTH = 200;
const MAX_BATCH = 512;

/** The variables of OpenTelemetry that its SDK leaves to the program. */
const variables = z.object({
  OTEL_TRACES_SAMPLER: z
    .string()
    .regex(/^(parentbased_)?(always_on|always_off|traceidratio)$/)
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(1).max(60_000).default(5000),
  OTEL_BSP_MAX_QUEUE_SIZE: z.coerce.number().int().min(1).max(65_536).default(2048),
});

/** The export of spans to a collector. */
export interface Tracing {
  /** Sends the remaining spans, by default for at most 1 s. */
  stop(withinMs?: number): Promise<void>;
}

/**
 * Sends the spans of spans.ts to an OTLP collector if the environment names one (docs/logs.md#traces); else returns null
 * and loads no package of the SDK. Logs a warning for variables that cannot be used. The exporter reads its own variables, its
 * headers among them, from the environment of the process, now.
 */
export async function startTracing(env: NodeJS.ProcessEnv, logger: Logger): Promise<Tracing | null> {
  const warn = (warning: string) => logger.warn({ event: 'config.warning' }, warning);
  if (!isWanted(env, warn)) return null;
  const read = readVariables(env, warn);
  const [sdk, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }, resources, { OTLPTraceExporter }] =
    await Promise.all([
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
  const parentBased = read.OTEL_TRACES_SAMPLER.startsWith('parentbased_');
  const root = read.OTEL_TRACES_SAMPLER.replace('parentbased_', '');
  const ratio = root === 'traceidratio' ? read.OTEL_TRACES_SAMPLER_ARG : Number(root === 'always_on');
  const sampler = new sdk.TraceIdRatioBasedSampler(ratio);
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes(service))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    sampler: parentBased ? new sdk.ParentBasedSampler({ root: sampler }) : sampler,
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: reported(new OTLPTraceExporter(), logger),
        maxQueueSize: read.OTEL_BSP_MAX_QUEUE_SIZE,
        maxExportBatchSize: Math.min(MAX_BATCH, read.OTEL_BSP_MAX_QUEUE_SIZE),
        scheduledDelayMillis: read.OTEL_BSP_SCHEDULE_DELAY,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  traceWith(provider.getTracer('accounts-gateway'));
  return {
    stop: async (withinMs = FLUSH_MS) => {
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

/** True if there is an endpoint that can be used. */
function isWanted(env: NodeJS.ProcessEnv, warn: (warning: string) => void): boolean {
  const names = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const name = names.find((each) => env[each]);
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (name === undefined || isOff) return false;
  // the exporter would take localhost for an address that it cannot read
  if (/^https?:$/.test(URL.parse(env[name] ?? '')?.protocol ?? '')) return true;
  warn(`${name} is not an http or https address; no traces are sent`);
  return false;
}

function readVariables(env: NodeJS.ProcessEnv, warn: (warning: string) => void): z.output<typeof variables> {
  const given = Object.fromEntries(Object.entries(env).filter(([, text]) => text));
  for (const { path } of variables.safeParse(given).error?.issues ?? []) {
    const name = String(path[0]);
    warn(`${name} cannot be used; its default is taken`);
    delete given[name];
  }
  return variables.parse(given);
}

/** Wraps an exporter and logs the first failure of a series, without its message, which may quote addresses and responses. */
function reported(exporter: SpanExporter, logger: Logger): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        if (failed && !failing) {
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
