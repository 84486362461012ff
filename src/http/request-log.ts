import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Level, Logger } from 'pino';
import { GatewayError } from '../errors/gateway-error.js';
import { hasManyDigits } from '../errors/many-digits.js';
import { CALLER_LEFT, type Activity } from '../telemetry/activity.js';
import { endRequestSpan, startRequestSpan } from '../telemetry/spans.js';
import { isByOwnPage } from './cors.js';
import { isApi, isProbe } from './guard.js';
import type { UnderWay } from './under-way.js';

const RETRY_AFTER_MS = 1000;

/** Writes the log line of each request (docs/logs.md#events), ends its span and counts it, when its response closes. */
export class RequestLog {
  constructor(
    private readonly logger: Logger,
    private readonly activity: Activity,
    private readonly underWay: UnderWay,
  ) {}

  /** Adds the hook that counts the bytes of bodies, and rejects a body while too many are in flight. */
  addTo(fastify: FastifyInstance): void {
    fastify.decorateRequest('logFields');
    // Fastify's own `signal` aborts when the request's body has been read
    fastify.decorateRequest('callerLeft', {
      getter() {
        return (this.logFields.left ??= new AbortController()).signal;
      },
    });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      if (this.underWay.isStopping) reply.header('connection', 'close');
      const bytes = Buffer.isBuffer(payload) ? payload.length : 0;
      if (bytes === 0 || this.underWay.addBytes(bytes)) {
        request.logFields.bytes += bytes;
        done(null, payload);
        return;
      }
      const detail = 'Too many response bytes are under way.';
      done(new GatewayError('overloaded', detail, { retryAfterMs: RETRY_AFTER_MS }));
    });
  }

  /** Begins a request, unless its connection is closed: Node's parser still parses all that it has read. */
  begin(request: FastifyRequest, reply: FastifyReply, next: () => void): void {
    const { socket } = request.raw;
    // the caller has reset the connection before its first request was read, so nobody knows its address
    if (socket.remoteAddress === undefined) socket.destroy();
    if (socket.destroyed) return;
    const startedAt = performance.now();
    request.logFields = { startedAt, bytes: 0, span: startRequestSpan(request.headers['traceparent']) };
    // emitted once for each response, however it ends
    reply.raw.on('close', () => this.#ended(request, reply));
    if (this.underWay.begin(socket)) next();
    else socket.destroy();
  }

  /** Logs input that never became a request but got a response. `method` is null if it could not be parsed. */
  rejected({ status, code, owner }: GatewayError, requestId: string, method: string | null, client?: string): void {
    const line = { event: 'request', requestId, method, route: null, status, ms: 0, code, owner, client };
    this.logger.info(line, 'request');
    this.activity.emit('requestEnded', { method: toKnownMethod(method), status, ms: 0, problem: { code, owner } });
  }

  #ended(request: FastifyRequest, reply: FastifyReply): void {
    const { raw, logFields: fields } = request;
    this.underWay.end(raw.socket, fields.bytes);
    const status = reply.raw.writableFinished ? reply.statusCode : CALLER_LEFT;
    if (status === CALLER_LEFT) (fields.left ??= new AbortController()).abort();
    const ms = performance.now() - fields.startedAt;
    const { origin, 'x-client-name': header } = raw.headers;
    const clientName = header ? String(header) : undefined;
    const method = raw.method ?? null;
    const route = request.routeOptions.url;
    const { span, cache, refreshId } = fields;
    // a problem that nobody received is none
    const problem = status === CALLER_LEFT ? undefined : fields.problem;
    const isOwnPage = isByOwnPage(raw.headers);
    const isCall = isApi(route);
    const ended = { method: toKnownMethod(method), route, isCall, status, ms, cache, problem, clientName, isOwnPage };
    if (span) endRequestSpan(span, ended, refreshId);
    this.logger[toLevel(status, route)](
      {
        event: 'request',
        requestId: request.id,
        trace_id: span?.spanContext().traceId,
        method,
        route: route ?? null,
        status,
        ms: Math.round(ms * 10) / 10,
        cache,
        refreshId,
        code: problem?.code,
        owner: problem?.owner,
        client: raw.socket.remoteAddress,
        origin: origin ? toLogged(origin) : undefined,
        clientName: clientName && toLoggedName(clientName),
      },
      'request',
    );
    this.activity.emit('requestEnded', ended);
  }
}

function toLevel(status: number, route: string | undefined): Level {
  if (status >= 500) return 'warn';
  return status < 400 && isProbe(route) ? 'debug' : 'info';
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'TRACE']);

/** The method as a label, by OpenTelemetry's conventions: `_OTHER` for any that HTTP does not define. */
const toKnownMethod = (method: string | null): string =>
  method !== null && KNOWN_METHODS.has(method) ? method : '_OTHER';

/** A request header, cleaned for the log: one line, no control characters, limited length. */
const toLogged = (header: string): string => header.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');

/** Replaces the digits with asterisks if there are more than 4: they may be an IBAN or an amount. */
const toLoggedName = (name: string): string => toLogged(hasManyDigits(name) ? name.replace(/\d/g, '*') : name);
