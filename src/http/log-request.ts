import type { Logger } from 'pino';
import type { RequestState } from './request-state.js';

/** The one line for each request (contract §7). 499 stands for a caller who left before his answer was out. */
export function logRequest(logger: Logger, state: RequestState, status: number): void {
  const { requestId, startedAt, route, cache, readingId, code, client, request } = state;
  const { origin, 'x-client-name': clientName } = request.headers;
  logger.info(
    {
      event: 'request',
      requestId,
      method: request.method,
      route,
      status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      cache,
      readingId,
      code,
      client,
      origin: origin === undefined ? undefined : toLogged(origin),
      clientName: clientName === undefined ? undefined : toLogged(String(clientName)),
    },
    'request',
  );
}

/** A header of the caller's for the log: one line, no control characters, not too long. */
const toLogged = (header: string): string => header.replace(/[^\x20-\x7e]/g, '?').slice(0, 100);
