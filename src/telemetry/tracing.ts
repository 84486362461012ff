import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
} from '@opentelemetry/api';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { isSet, type Environment } from '../config/environment.js';
import { within } from '../deadline.js';
import { VERSION } from '../version.js';

/** How long a stop waits for the last spans to be sent. */
const FLUSH_MS = 1000;
/** A collector that comes and goes is not reported at each turn. */
const REPORT_EVERY_MS = 3_600_000;
const SUCCESS = 0;
const MAX_VALUE_LENGTH = 200;
/** Spans that wait to be sent; more are dropped. */
const QUEUE = { default: 2048, max: 65_536 };
const DELAY_MS = { default: 5000, max: 60_000 };

type Sdk = typeof import('@opentelemetry/sdk-trace');
type Warn = (warning: string) => void;

/** Spans on their way to a collector. */
export interface Tracing {
  /** Sends what is left, for a second at most; false when it was not all sent by then. */
  stop(): Promise<boolean>;
}

/**
 * Sends the spans of src/spans.ts to an OTLP collector, when the environment names one (docs/operations.md#traces): else
 * it gives null, and no package of the SDK is loaded. Settings that cannot be used are warned of and left out. The exporter
 * reads its own variables, its headers among them, from the environment of the process, now.
 */
export async function startTracing(env: Environment, logger: Logger): Promise<Tracing | null> {
  const warn: Warn = (warning) => logger.warn({ event: 'config.warning' }, warning);
  if (!isWanted(env, warn)) return null;
  const [sdk, { detectResources, envDetector, defaultResource, resourceFromAttributes }, { OTLPTraceExporter }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
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
  context.setGlobalContextManager(new AsyncContextManager());
  trace.setGlobalTracerProvider(provider);
  return {
    stop: async () => {
      trace.disable();
      context.disable();
      const sent = await within(
        provider.shutdown().then(
          () => true,
          () => false,
        ),
        FLUSH_MS,
      );
      return sent === true;
    },
  };
}

/** Whether there is an endpoint that can be used. */
function isWanted(env: Environment, warn: Warn): boolean {
  const specific = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const name = isSet(specific) ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const endpoint = env[name];
  if (!isSet(endpoint) || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  if (env['OTEL_TRACES_EXPORTER'] === 'none') return false;
  // the exporter would take localhost for an address that it cannot read
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    warn(`${name} is not an http or https address; no traces are sent`);
    return false;
  }
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (isSet(protocol) && protocol !== 'http/protobuf') {
    warn('OTEL_EXPORTER_OTLP_PROTOCOL names another protocol; traces are sent by http/protobuf');
  }
  return true;
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
function toSampler(env: Environment, sdk: Sdk, warn: Warn): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(toRatio(env, warn)),
  };
  const root = /^(?:parentbased_)?(always_on|always_off|traceidratio)$/.exec(name)?.[1];
  if (root === undefined) warn('OTEL_TRACES_SAMPLER is not known here; parentbased_always_on is taken');
  const sampler = (roots[root ?? 'always_on'] as () => Sampler)();
  return root === name ? sampler : new sdk.ParentBasedSampler({ root: sampler });
}

function toRatio(env: Environment, warn: Warn): number {
  const text = env['OTEL_TRACES_SAMPLER_ARG'];
  const ratio = isSet(text) ? Number(text) : 1;
  if (ratio >= 0 && ratio <= 1) return ratio;
  warn('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1; 1 is taken');
  return 1;
}

function toNumber(env: Environment, name: string, limits: { default: number; max: number }, warn: Warn): number {
  const text = env[name];
  if (!isSet(text)) return limits.default;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= limits.max) return number;
  warn(`${name} is not a whole number from 1 to ${limits.max}; ${limits.default} is taken`);
  return limits.default;
}

/** What is made, with a warning for each variable that the SDK leaves out; its own words may quote values. */
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

/** An exporter whose first failure is reported; what it failed with may quote addresses and answers. */
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
            'the collector takes no traces; they are dropped until it does',
          );
        }
        failing = failed;
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** A code of the system's, a status, or the kind of error. */
function toFailure(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? String(code) : String(name ?? 'unknown');
}

/** Keeps the span of a reading through its awaits, so that calls to the bank find their parent. */
class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => fn.call(thisArg as ThisParameterType<F>, ...args));
  }

  bind<T>(active: Context, target: T): T {
    if (typeof target !== 'function') return target;
    return ((...args: unknown[]) => this.#storage.run(active, () => target(...args) as unknown)) as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}
