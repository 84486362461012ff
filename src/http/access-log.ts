import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import '../logging/request-fields.js';
import type { GatewayError } from '../problems/gateway-error.js';
import { endRequestSpan, traceIdOf } from '../telemetry/spans.js';
import { isProbe } from './guard.js';

/** Stands in the log for a caller who left before the answer was out. */
export const CALLER_LEFT = 499;

/** Writes the one line of a request (docs/operations.md, Logs), ends its span, and tells those who count. */
export class AccessLog {
  readonly #logger: Logger;
  readonly #activity: Activity;

  constructor(logger: Logger, activity: Activity) {
    this.#logger = logger;
    this.#activity = activity;
  }

  /** A request that was begun; the line of a probe that went well is for `debug` only. */
  ended(reply: FastifyReply, status: number): void {
    const { request, elapsedTime: ms } = reply;
    const { raw, logFields: fields } = request;
    const { origin, 'x-client-name': header } = raw.headers;
    const clientName = header === undefined ? undefined : String(header);
    const method = raw.method ?? null;
    // the router finds routes for addresses that name none
    const route = (raw.url?.startsWith('/') && request.routeOptions.url) || null;
    const { span, cache, refreshId, problem } = fields;
    const code = problem?.code;
    const left = status === CALLER_LEFT;
    endRequestSpan(span, { method, route, status: left ? null : status, code, cache, refreshId });
    const quiet = status < 400 && isProbe(route ?? '');
    this.#logger[quiet ? 'debug' : 'info'](
      {
        event: 'request',
        requestId: request.id,
        traceId: traceIdOf(span),
        method,
        route,
        status,
        ms: toTenths(ms),
        cache,
        refreshId,
        code,
        client: raw.socket.remoteAddress,
        origin: origin === undefined ? undefined : toLogged(origin),
        clientName: clientName === undefined ? undefined : toLogged(clientName),
      },
      'request',
    );
    this.#activity.emit('requestEnded', { method, route, status, ms, cache, problem, clientName });
  }

  /** A request whose caller left before it was begun, since one before it on the connection was not answered. */
  unbegun(request: IncomingMessage, requestId: string): void {
    this.#endedAtOnce(requestId, request.method ?? null, CALLER_LEFT, request.socket.remoteAddress);
  }

  /** What never became a request: its connection was answered. `method` is null when it could not be read. */
  refused(problem: GatewayError, requestId: string, method: string | null, client: string): void {
    this.#endedAtOnce(requestId, method, problem.status, client, problem);
  }

  #endedAtOnce(
    requestId: string,
    method: string | null,
    status: number,
    client: string | undefined,
    problem?: GatewayError,
  ): void {
    this.#logger.info(
      { event: 'request', requestId, method, route: null, status, ms: 0, code: problem?.code, client },
      'request',
    );
    const nothing = { route: null, ms: 0, cache: undefined, clientName: undefined };
    this.#activity.emit('requestEnded', { method, status, problem, ...nothing });
  }
}

const toTenths = (ms: number): number => Math.round(ms * 10) / 10;

/** A header of the caller for the log: one line, no control characters, not too long. */
const toLogged = (header: string): string => header.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
