import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/gateway-error.js';
import { SECURITY_HEADERS } from '../representation/security-headers.js';
import { createOriginCheck, isPreflight, PREFLIGHT_HEADERS, toCorsHeaders } from './cors.js';
import { createGuard, type GuardSettings } from './guard.js';
import { MAX_BODY_BYTES } from './http-limits.js';

const ALWAYS = {
  ...SECURITY_HEADERS,
  /** Request headers that a response may depend on: one list, so that no route can forget one. */
  vary: 'Accept, Accept-Encoding, Origin',
};
const ALLOW = 'GET, HEAD, OPTIONS';

/**
 * Creates the first check of every request. It sets the headers of the response and calls the guard. Then it answers
 * OPTIONS and methods that no route supports, and calls `next` for all others.
 */
export function createAdmission(settings: GuardSettings) {
  const isListed = createOriginCheck(settings.CORS_ORIGINS);
  const assertMayCall = createGuard(settings);

  /** @throws GatewayError like the guard; method-not-allowed */
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const { raw, id, method } = request;
    const { origin } = raw.headers;
    reply.headers(ALWAYS).header('x-request-id', id);
    const mayRead = origin !== undefined && isListed(origin);
    if (mayRead) reply.headers(toCorsHeaders(origin));
    assertMayCall(raw, request.routeOptions.url);
    if (raw.headers['transfer-encoding'] !== undefined) dropBody(raw);
    if (method === 'OPTIONS' && isPreflight(raw.headers)) {
      if (!mayRead) throw new GatewayError('client-not-allowed', 'This origin is not in CORS_ORIGINS.');
      reply.code(204).headers(PREFLIGHT_HEADERS).send();
    } else if (method === 'GET' || method === 'HEAD' || !request.is404) {
      next();
    } else if (method === 'OPTIONS') {
      reply.code(204).header('allow', ALLOW).send();
    } else {
      throw toMethodNotAllowed(method);
    }
  };
}

/** Drops a chunked body, which has no size in the header. A large one ends the connection. */
function dropBody(request: IncomingMessage): void {
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) request.destroy();
  });
}

export const toMethodNotAllowed = (method: string): GatewayError =>
  new GatewayError('method-not-allowed', `${method} is not allowed here, only ${ALLOW}.`, {
    headers: { allow: ALLOW },
  });

/** The caller's id if it has 1–64 characters of [A-Za-z0-9._-], else a new one. */
export function toRequestId({ headers }: IncomingMessage): string {
  const header = headers['x-request-id'];
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : randomUUID();
}
