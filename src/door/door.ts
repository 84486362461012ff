import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { DoorSettings } from '../settings/settings.js';
import { createCors } from './cors.js';
import { createGuard } from './guard.js';
import type { Lifecycle } from './lifecycle.js';
import { pathOf, sendProblem } from './send-problem.js';
import './request-state.js';

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The page at /docs runs its own script and styles. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'";

/**
 * What happens to every request before and after its route: an id, the guard, CORS, security headers, and one log line
 * (contract §3 and §7).
 */
export function installDoor(
  fastify: FastifyInstance,
  settings: DoorSettings,
  logger: Logger,
  lifecycle: Lifecycle,
): void {
  const guard = createGuard(settings);
  const cors = createCors(settings.corsOrigins);
  const routes = collectRoutes(fastify);
  fastify.decorateRequest('state');

  fastify.addHook('onRequest', (request, reply, done) => {
    request.state = { requestId: toRequestId(request.headers['x-request-id']), startedAt: performance.now() };
    const path = pathOf(request);
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.state.requestId);
    if (path === '/docs' || path.startsWith('/docs/')) reply.header('content-security-policy', DOCS_POLICY);
    if (lifecycle.draining) reply.header('connection', 'close');
    try {
      guard({ request: request.raw, path, address: request.raw.socket.remoteAddress ?? '' });
      if (cors(request, reply)) return;
      assertMethod(request.method, path, routes);
    } catch (error) {
      sendProblem(request, reply, toGatewayError(error));
      return;
    }
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    logRequest(logger, request, reply.statusCode);
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    // the caller left before his answer: 499, as it is written in the field
    logRequest(logger, request, 499);
    done();
  });
  fastify.server.maxConnections = settings.maxConnections;
  fastify.server.on('connect', (_request, socket) => {
    socket.end(
      'HTTP/1.1 405 Method Not Allowed\r\nallow: GET, HEAD, OPTIONS\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
    );
  });
}

/** The id a caller sent, when it is 1–64 of [A-Za-z0-9._-], else a new one. */
function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : randomUUID();
}

function collectRoutes(fastify: FastifyInstance): RegExp[] {
  const routes: RegExp[] = [];
  fastify.addHook('onRoute', ({ url }) => {
    const pattern = url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[A-Za-z]+/g, '[^/]+')
      .replaceAll('*', '.*');
    routes.push(new RegExp(`^${pattern}$`));
  });
  return routes;
}

function assertMethod(method: string, path: string, routes: readonly RegExp[]): void {
  if (method === 'GET' || method === 'HEAD') return;
  if (!routes.some((route) => route.test(path))) throw new GatewayError('not-found', 'No route has this path.');
  throw new GatewayError('method-not-allowed', `${method} is not allowed here.`, {
    headers: { allow: 'GET, HEAD, OPTIONS' },
  });
}

function logRequest(logger: Logger, request: FastifyRequest, status: number): void {
  const { requestId, startedAt, cache, readingId, code } = request.state;
  const { origin, 'x-client-name': clientName } = request.headers;
  logger.info(
    {
      event: 'request',
      requestId,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      cache,
      readingId,
      code,
      client: request.raw.socket.remoteAddress,
      origin: toLogged(origin),
      clientName: toLogged(clientName),
    },
    'request',
  );
}

/** A header of the caller's for the log: one line, no control characters, not too long. */
function toLogged(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header.replace(/[^\x20-\x7e]/g, '?').slice(0, 100) : undefined;
}
