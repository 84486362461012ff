import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { CALLER_LEFT, type RequestEnded } from './activity.js';

/** Maximum number of links, which is also the SDK's limit. */
const MAX_LINKS = 128;

/** Undefined while tracing is off: no request pays for spans then. */
let tracer: Tracer | undefined;

/**
 * Starts all spans (docs/logs.md#traces) with this tracer; none if it is undefined. Attributes have nothing from a caller
 * or the bank but methods, statuses and counts.
 */
export function traceWith(next: Tracer | undefined): void {
  tracer = next;
}

/** The server span of a request, a child of the caller's `traceparent` if that is well formed. */
export function startRequestSpan(traceParent: unknown): Span | undefined {
  return tracer?.startSpan(
    'HTTP',
    { kind: SpanKind.SERVER },
    propagation.extract(ROOT_CONTEXT, { traceparent: traceParent }),
  );
}

export function endRequestSpan(
  span: Span,
  { method, route, status, cache, problem }: RequestEnded,
  refreshId?: string,
): void {
  const verb = method === '_OTHER' ? 'HTTP' : method;
  const left = status === CALLER_LEFT;
  const failed = left || status >= 500;
  span.updateName(route === undefined ? verb : `${verb} ${route}`);
  // the SDK omits undefined values
  span.setAttributes({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': left ? undefined : status,
    'error.type': problem?.code ?? toErrorType(status),
    'accounts_gateway.cache': cache,
    'accounts_gateway.refresh_id': refreshId,
  });
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function toErrorType(status: number): string | undefined {
  if (status === CALLER_LEFT) return 'caller-left';
  return status >= 500 ? String(status) : undefined;
}

/** The requests that wait for one refresh. Keeps at most 128 of their spans. */
export class Waiting {
  readonly #spans: Span[] = [];

  add(span: Span | undefined): void {
    if (span?.isRecording() && this.#spans.length < MAX_LINKS) this.#spans.push(span);
  }

  linkFrom(span: Span): void {
    span.addLinks(this.#spans.map((each) => ({ context: each.spanContext() })));
  }
}

/** Runs one refresh in a root span, linked to the requests that waited. `describe` returns attributes of its result. */
export async function inRefreshSpan<T>(
  refreshId: string,
  waiting: Waiting,
  work: () => Promise<T>,
  describe: (read: T) => Attributes,
): Promise<T> {
  const attributes = { 'accounts_gateway.refresh_id': refreshId };
  const span = tracer?.startSpan('refresh', { attributes }, ROOT_CONTEXT);
  if (!span) return work();
  try {
    const read = await context.with(trace.setSpan(ROOT_CONTEXT, span), work);
    span.setAttributes(describe(read));
    return read;
  } catch (error) {
    fail(span, String((error as { code?: unknown }).code));
    throw error;
  } finally {
    waiting.linkFrom(span);
    span.end();
  }
}

/** The client span of a GET to the bank, a child of its refresh, if there is one. Its context is not sent to the bank. */
export function startCallSpan(baseUrl: string, path: string, query?: Readonly<Record<string, string>>) {
  if (!tracer) return undefined;
  const { hostname, port } = new URL(baseUrl);
  const attributes = {
    'http.request.method': 'GET',
    'server.address': hostname,
    'server.port': Number(port) || 443,
    'url.template': path,
    'url.query': query && new URLSearchParams(query).toString(),
  };
  return tracer.startSpan(`GET ${path}`, { kind: SpanKind.CLIENT, attributes });
}

/** @param outcome `failure`: a code of docs/errors.md, `given-up` or `not-sent` */
export function endCallSpan(span: Span, outcome: { status: number | undefined; failure: string | undefined }): void {
  const { status, failure } = outcome;
  span.setAttributes({ 'http.response.status_code': status });
  if (failure !== undefined) fail(span, failure);
  span.end();
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}
