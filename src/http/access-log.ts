import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import '../logging/request-fields.js';
import { isProbe } from './guard.js';

/** Stands in the log for a caller who left before the answer was out. */
export const CALLER_LEFT = 499;

/** Writes the one line of a request (docs/operations.md, Logs); of a probe that went well for `debug` only. */
export function logRequest(logger: Logger, reply: FastifyReply, status: number): void {
  const { request } = reply;
  const { raw, logFields } = request;
  const { origin, 'x-client-name': clientName } = raw.headers;
  const quiet = status < 400 && isProbe(request.routeOptions.url ?? '');
  logger[quiet ? 'debug' : 'info'](
    {
      event: 'request',
      requestId: request.id,
      method: raw.method,
      // the router finds routes for addresses that name none
      route: (raw.url?.startsWith('/') && request.routeOptions.url) || null,
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      cache: logFields.cache,
      readingId: logFields.readingId,
      code: logFields.code,
      client: raw.socket.remoteAddress,
      origin: origin === undefined ? undefined : toLogged(origin),
      clientName: clientName === undefined ? undefined : toLogged(String(clientName)),
    },
    'request',
  );
}

/** The line of a request whose caller left before it was begun, since one before it on the connection was not answered. */
export function logUnbegun(logger: Logger, request: IncomingMessage, requestId: string): void {
  const { method, socket } = request;
  logger.info(
    { event: 'request', requestId, method, route: null, status: CALLER_LEFT, ms: 0, client: socket.remoteAddress },
    'request',
  );
}

/** A header of the caller for the log: one line, no control characters, not too long. */
const toLogged = (header: string): string => header.replace(/[^\x20-\x7e]/g, '?').slice(0, 100);
