import fastifyPlugin from 'fastify-plugin';
import { GatewayError } from '../errors/gateway-error.js';

/** Answers requests for unknown paths after all hooks have seen them, but before a body is read that may never come. */
export const notFound = fastifyPlugin(async (fastify) => {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    done(request.is404 ? new GatewayError('not-found', 'No route has this path.') : null, payload);
  });
});
