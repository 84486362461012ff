import type { FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Level, Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import '../telemetry/request-fields.js';
import type { GatewayError } from '../errors/gateway-error.js';
import { hasManyDigits } from '../errors/many-digits.js';
import { endRequestSpan, startRequestSpan } from '../telemetry/spans.js';
import type { Connections } from './connections.js';
import { isProbe } from './request-path.js';

interface AccessLogOptions {
  readonly log: AccessLog;
  readonly connections: Connections<FastifyReply>;
}

/**
 * Notes when each request began, and writes its line when it has ended. The first plugin: no request goes unlogged. Refuses those
 * that are too many for their connection, which is then closed.
 */
export const accessLog = fastifyPlugin<AccessLogOptions>(async (fastify, { log, connections }) => {
  fastify.decorateRequest('logFields');
  fastify.addHook('onRequest', (request, reply, done) => {
    request.logFields = { startedAt: performance.now(), span: startRequestSpan(request.headers['traceparent']) };
    if (connections.enter(reply)) done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    if (connections.leave(reply)) log.ended(request, reply.statusCode);
    done();
  });
});

/** Writes the one line of each request (docs/logs.md#events), ends its span, and counts it. */
export class AccessLog {
  readonly #logger: Logger;
  readonly #activity: Activity;

  constructor(logger: Logger, activity: Activity) {
    this.#logger = logger;
    this.#activity = activity;
  }

  /** Records that a request was answered or its caller left. */
  ended(request: FastifyRequest, status: number): void {
    const { raw, logFields: fields } = request;
    const ms = performance.now() - fields.startedAt;
    const { origin, 'x-client-name': header } = raw.headers;
    const clientName = header === undefined ? undefined : String(header);
    const method = raw.method ?? null;
    // the router finds routes for addresses that name none
    const route = request.originalUrl.startsWith('/') ? (request.routeOptions.url ?? null) : null;
    const { span, cache, refreshId, problem } = fields;
    const ended = { method, route, status, ms, cache, problem, clientName };
    if (span) endRequestSpan(span, ended, refreshId);
    this.#logger[toLevel(status, route)](
      {
        event: 'request',
        requestId: request.id,
        trace_id: span?.spanContext().traceId,
        method,
        route,
        status,
        ms: toTenths(ms),
        cache,
        refreshId,
        code: problem?.code,
        owner: problem?.owner,
        client: raw.socket.remoteAddress,
        origin: origin === undefined ? undefined : toLogged(origin),
        clientName: clientName === undefined ? undefined : toLoggedName(clientName),
      },
      'request',
    );
    this.#activity.emit('requestEnded', ended);
  }

  /** Logs input that never became a request but got a response. `method` is null if it could not be read. */
  refused(problem: GatewayError, requestId: string, method: string | null, client: string | undefined): void {
    const { status, code, owner } = problem;
    this.#logger.info(
      { event: 'request', requestId, method, route: null, status, ms: 0, code, owner, client },
      'request',
    );
    const nothing = { route: null, ms: 0, cache: undefined, clientName: undefined };
    this.#activity.emit('requestEnded', { method, status, problem, ...nothing });
  }
}

function toLevel(status: number, route: string | null): Level {
  if (status >= 500) return 'warn';
  return status < 400 && isProbe(route ?? '') ? 'debug' : 'info';
}

const toTenths = (ms: number): number => Math.round(ms * 10) / 10;

/** A request header, cleaned for the log: one line, no control characters, limited length. */
const toLogged = (header: string): string => header.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');

/** Replaces the digits by stars if there are more than 4, as for metric labels: they may be an IBAN or an amount. */
const toLoggedName = (name: string): string => toLogged(hasManyDigits(name) ? name.replace(/\d/g, '*') : name);
