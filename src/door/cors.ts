import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../problems/gateway-error.js';

const REQUEST_HEADERS = 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name';
const EXPOSED_HEADERS =
  'Age, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After';
const PREFLIGHT_SECONDS = '600';

/**
 * CORS for exactly the listed origins. Gives true when it has answered, as it does for a preflight.
 * @throws GatewayError client-not-allowed for a preflight from elsewhere
 */
export function createCors(origins: readonly string[]): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const listed = new Set(origins);
  return (request, reply) => {
    const { origin } = request.headers;
    if (listed.size > 0) reply.header('vary', 'Origin');
    const allowed = origin !== undefined && listed.has(origin);
    if (allowed) {
      reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED_HEADERS);
    }
    if (request.method !== 'OPTIONS') return false;
    if (origin !== undefined && request.headers['access-control-request-method'] !== undefined) {
      if (!allowed) throw new GatewayError('client-not-allowed', 'This origin is not in CORS_ORIGINS.');
      reply
        .header('access-control-allow-methods', 'GET, HEAD')
        .header('access-control-allow-headers', REQUEST_HEADERS)
        .header('access-control-max-age', PREFLIGHT_SECONDS);
    } else {
      reply.header('allow', 'GET, HEAD, OPTIONS');
    }
    reply.code(204).send();
    return true;
  };
}
