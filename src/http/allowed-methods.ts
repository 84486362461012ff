import { METHODS } from 'node:http';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { GatewayError } from '../errors/gateway-error.js';

/** Methods that Node parses; CONNECT never becomes a request. */
const ALL = METHODS.filter((method) => method !== 'CONNECT');

/** Answers the methods that a route does not take: 405 (RFC 9110 §15.5.6), and 204 for OPTIONS. */
@Injectable()
export class AllowedMethods implements OnApplicationBootstrap {
  readonly #fastify: FastifyInstance;
  readonly #byUrl = new Map<string, Set<string>>();

  /** Created before Nest adds the routes of its controllers. */
  constructor(adapterHost: HttpAdapterHost) {
    this.#fastify = adapterHost.httpAdapter.getInstance<FastifyInstance>();
    this.#fastify.addHook('onRoute', ({ url, method }) => {
      const methods = this.#byUrl.get(url) ?? new Set<string>();
      for (const each of [method].flat()) methods.add(each);
      this.#byUrl.set(url, methods);
    });
  }

  /** Adds routes for all other methods to every GET route. */
  onApplicationBootstrap(): void {
    const fastify = this.#fastify;
    for (const method of ALL) if (!fastify.supportedMethods.includes(method)) fastify.addHttpMethod(method);
    // behind the plugins that still wait to be loaded
    fastify.after(() => {
      for (const [url, methods] of this.#byUrl) if (methods.has('GET')) answerOthers(fastify, url, methods);
    });
  }
}

/** Answers `OPTIONS *`, which asks about the server as a whole (RFC 9110 §9.3.7). */
export const serverOptions = fastifyPlugin(async (fastify) => {
  fastify.addHook('onRequest', ({ originalUrl }, reply, done) => {
    // the guard lets no other method ask for it
    if (originalUrl === '*') reply.code(204).header('allow', 'GET, HEAD, OPTIONS').send();
    else done();
  });
});

function answerOthers(fastify: FastifyInstance, url: string, methods: ReadonlySet<string>): void {
  const allow = [...new Set([...methods, 'HEAD', 'OPTIONS'])].join(', ');
  fastify.route({
    url,
    method: ALL.filter((method) => !methods.has(method)),
    // before a body is read
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      if (request.method === 'OPTIONS') reply.code(204).header('allow', allow).send();
      else done(toMethodNotAllowed(request.method, allow));
    },
    handler: () => undefined,
  });
}

/** The problem for a method that is not in `allow`. */
export const toMethodNotAllowed = (method: string, allow: string): GatewayError =>
  new GatewayError('method-not-allowed', `${method} is not allowed here, only ${allow}.`, { headers: { allow } });
