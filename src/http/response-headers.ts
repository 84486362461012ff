import fastifyPlugin from 'fastify-plugin';
import { SECURITY_HEADERS } from '../representation/security-headers.js';

const ALWAYS = {
  ...SECURITY_HEADERS,
  /** Request headers that a response may depend on. All responses have the same list, so that no route can forget one. */
  vary: 'Accept, Accept-Encoding, Origin',
};

/** Gives every response the security headers, `Vary` and the id of its request. */
export const responseHeaders = fastifyPlugin(async (fastify) => {
  fastify.addHook('onRequest', ({ id }, reply, done) => {
    reply.headers(ALWAYS).header('x-request-id', id);
    done();
  });
});
