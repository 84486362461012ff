import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/gateway-error.js';

/** Methods that Node parses; CONNECT never becomes a request. */
const ALL = METHODS.filter((method) => method !== 'CONNECT');

/** Answers the methods that a route does not take: 405 (RFC 9110 §15.5.6), and 204 for OPTIONS. */
export class RouteMethods {
  readonly #fastify: FastifyInstance;
  readonly #byUrl = new Map<string, Set<string>>();

  constructor(fastify: FastifyInstance) {
    this.#fastify = fastify;
    fastify.addHook('onRoute', ({ url, method }) => {
      const methods = this.#byUrl.get(url) ?? new Set<string>();
      for (const each of [method].flat()) methods.add(each);
      this.#byUrl.set(url, methods);
    });
  }

  /** Adds routes for all other methods to every GET route. Must be called after the app has added its own routes. */
  complete(): void {
    const fastify = this.#fastify;
    for (const method of ALL) if (!fastify.supportedMethods.includes(method)) fastify.addHttpMethod(method);
    // behind the plugins that still wait to be loaded
    fastify.after(() => {
      for (const [url, methods] of this.#byUrl) if (methods.has('GET')) answerOthers(fastify, url, methods);
    });
  }
}

function answerOthers(fastify: FastifyInstance, url: string, methods: ReadonlySet<string>): void {
  const allow = [...new Set([...methods, 'HEAD', 'OPTIONS'])].join(', ');
  fastify.route({
    url,
    method: ALL.filter((method) => !methods.has(method)),
    // before a body is read
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      if (request.method === 'OPTIONS') reply.code(204).header('allow', allow).send();
      else
        done(
          new GatewayError('method-not-allowed', `${request.method} is not allowed here, only ${allow}.`, {
            headers: { allow },
          }),
        );
    },
    handler: () => undefined,
  });
}
