import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { GatewayError } from '../errors/gateway-error.js';

const REQUEST_HEADERS = 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent';
const EXPOSED_HEADERS =
  'Age, Content-Disposition, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After';
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-max-age': '600',
};

interface CorsOptions {
  readonly origins: readonly string[];
}

/** Lets pages of the listed origins read every response, refusals of the guard included; so it comes before the guard. */
export const cors = fastifyPlugin<CorsOptions>(async (fastify, { origins }) => {
  if (origins.length === 0) return;
  const isListed = createOriginCheck(origins);
  fastify.addHook('onRequest', ({ headers: { origin } }, reply, done) => {
    if (origin !== undefined && isListed(origin)) {
      reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS });
    }
    done();
  });
});

/** Answers preflights for any path (the Fetch standard): 204 for a listed origin, else 403. */
export const preflight = fastifyPlugin<CorsOptions>(async (fastify, { origins }) => {
  const isListed = createOriginCheck(origins);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isPreflight(request)) {
      done();
      return;
    }
    if (!isListed(request.headers.origin)) {
      throw new GatewayError('client-not-allowed', 'This origin is not in CORS_ORIGINS.');
    }
    reply.code(204).headers(PREFLIGHT_HEADERS).send();
  });
});

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Creates a check for listed origins; `:*` at the end of one means any port or none. */
export function createOriginCheck(listed: readonly string[]): (origin: string | undefined) => boolean {
  const exact = new Set(listed);
  const anyPort = new Set(listed.filter((each) => each.endsWith(':*')).map((each) => each.slice(0, -2)));
  return (origin) => {
    // a listed `:*` is no origin by itself
    if (origin === undefined || origin.endsWith('*')) return false;
    return exact.has(origin) || anyPort.has(origin.replace(/:\d{1,5}$/, ''));
  };
}
