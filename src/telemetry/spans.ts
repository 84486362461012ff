import {
  context,
  INVALID_TRACEID,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';

import { toKnownMethod } from './known-method.js';

const SCOPE = 'accounts-gateway';
/** Maximum number of links, which is also the SDK's limit. */
const MAX_LINKS = 128;

/**
 * Spans as docs/logs.md#traces has them. Until a tracer is registered (src/telemetry/tracing.ts) all of this does
 * nothing. No attribute holds anything of a caller's or of the bank's but methods, statuses and counts.
 */
const tracer = (): Tracer => trace.getTracer(SCOPE);

/** The server span of a request, a child of the caller's `traceparent` where that is well formed. */
export function startRequestSpan(traceParent: unknown): Span {
  return tracer().startSpan(
    'HTTP',
    { kind: SpanKind.SERVER },
    propagation.extract(ROOT_CONTEXT, { traceparent: traceParent }),
  );
}

/** Attributes of a request, known when it is answered. */
interface RequestEnd {
  readonly method: string | null;
  /** The template; null without one. */
  readonly route: string | null;
  /** The HTTP status; null if the caller left before the response was sent. */
  readonly status: number | null;
  readonly code: string | undefined;
  readonly cache: string | undefined;
  readonly refreshId: string | undefined;
}

/** Ends the server span of a request. */
export function endRequestSpan(span: Span, { method, route, status, code, cache, refreshId }: RequestEnd): void {
  if (!span.isRecording()) return;
  const knownMethod = toKnownMethod(method);
  const verb = knownMethod === '_OTHER' ? 'HTTP' : knownMethod;
  span.updateName(route === null ? verb : `${verb} ${route}`);
  const failed = status === null || status >= 500;
  const errorType = code ?? (status === null ? 'caller-left' : failed ? String(status) : undefined);
  span.setAttributes({
    'http.request.method': knownMethod,
    ...(route !== null && { 'http.route': route }),
    ...(status !== null && { 'http.response.status_code': status }),
    ...(errorType !== undefined && { 'error.type': errorType }),
    ...(cache !== undefined && { 'accounts_gateway.cache': cache }),
    ...(refreshId !== undefined && { 'accounts_gateway.refresh_id': refreshId }),
  });
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The id of a span's trace, for log lines; undefined when it is in none. */
export function traceIdOf(span: Span): string | undefined {
  const { traceId } = span.spanContext();
  return traceId === INVALID_TRACEID ? undefined : traceId;
}

/** The requests that wait for one refresh: at most 128 of their spans. */
export class Waiting {
  readonly #spans: Span[] = [];

  add(span: Span | undefined): void {
    if (span?.isRecording() && this.#spans.length < MAX_LINKS) this.#spans.push(span);
  }

  linkFrom(span: Span): void {
    span.addLinks(this.#spans.map((each) => ({ context: each.spanContext() })));
  }
}

/**
 * One refresh in a root span, linked to the requests that waited for it. Calls to the bank within `work` are its children.
 * @param describe attributes of a refresh that succeeded
 */
export async function inRefreshSpan<T>(
  refreshId: string,
  waiting: Waiting,
  work: () => Promise<T>,
  describe: (read: T) => Attributes,
): Promise<T> {
  const span = tracer().startSpan(
    'refresh',
    { attributes: { 'accounts_gateway.refresh_id': refreshId } },
    ROOT_CONTEXT,
  );
  if (!span.isRecording()) return work();
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

/** A GET to the bank. */
interface BankCall {
  readonly baseUrl: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** The client span of one call to the bank; a child of the refresh within which it is made. Nothing of it is sent along. */
export function startCallSpan({ baseUrl, path, query }: BankCall): Span {
  const span = tracer().startSpan(`GET ${path}`, { kind: SpanKind.CLIENT });
  if (!span.isRecording()) return span;
  const { hostname, port } = new URL(baseUrl);
  return span.setAttributes({
    'http.request.method': 'GET',
    'server.address': hostname,
    'server.port': Number(port) || 443,
    'url.template': path,
    ...(query && { 'url.query': new URLSearchParams(query).toString() }),
  });
}

/** Ends the span of a call. `failure`: a code of docs/errors.md, `given-up` or `not-sent`. */
export function endCallSpan(span: Span, { status, failure }: { status?: number; failure?: string }): void {
  if (!span.isRecording()) return;
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (failure !== undefined) fail(span, failure);
  else if (status !== undefined && status >= 400) fail(span, String(status));
  span.end();
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}
