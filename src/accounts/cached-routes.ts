import { Injectable, StandardSchemaValidationPipe } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, preHandlerHookHandler } from 'fastify';
import { CachedResponses } from './cached-responses.js';

interface Marked {
  /** The handler as it was declared. */
  readonly handler: unknown;
  readonly name: string;
}

/**
 * For a handler whose answers may leave from memory. They do only where nothing of Nest's stands between the route and
 * the handler; a guard, an interceptor, a pipe, or metadata that one of these could read, and all requests reach it.
 */
export function MayBeCached(): MethodDecorator {
  return (target, name, descriptor) => {
    const mark: Marked = { handler: descriptor.value, name: String(name) };
    RouteConfig({ mayBeCached: mark })(target, name, descriptor);
  };
}

/** What Nest and Fastify themselves write on a controller or handler, and nothing reads on the way to it. */
const HARMLESS =
  /^(design:|swagger\/|__(controller|fastify_route_config)__$|(path|method|host|version|scope:options|__version__|self:\w+|fastify:\w+)$)/i;

/**
 * The cache before the routes (docs/architecture.md, Cached answers): a Fastify hook of the route, the last before its
 * handler, so that every hook of Fastify's has run. Which routes have it is decided when Nest makes them, out of the same
 * configuration that Nest makes them from.
 */
@Injectable()
export class CachedRoutes {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly responses: CachedResponses,
  ) {}

  /** Before any route is made. */
  watch(): void {
    const answer: preHandlerHookHandler = (request, reply, done) => {
      if (!this.responses.answer(request, reply)) done();
    };
    this.adapterHost.httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      const { mayBeCached } = (route.config ?? {}) as { readonly mayBeCached?: Marked };
      if (!mayBeCached || !this.#isOpen(mayBeCached)) return;
      route.preHandler = [route.preHandler ?? []].flat().concat(answer);
    });
  }

  /** Whether nothing of Nest's would see a request before this handler. */
  #isOpen(mark: Marked): boolean {
    const { config } = this;
    const global = [
      ...config.getGlobalGuards(),
      ...config.getGlobalRequestGuards(),
      ...config.getGlobalInterceptors(),
      ...config.getGlobalRequestInterceptors(),
      ...config.getGlobalRequestPipes(),
      ...config.getGlobalPreRequestHooks(),
      // judges the query by its schema, and the address stands for that
      ...config.getGlobalPipes().filter((pipe) => !(pipe instanceof StandardSchemaValidationPipe)),
    ];
    return global.length === 0 && this.#controllersOf(mark).every((controller) => isPlain(controller, mark));
  }

  /** All that have this handler, by inheritance too. */
  #controllersOf({ handler, name }: Marked): object[] {
    return [...this.modules.values()]
      .flatMap((module) => [...module.controllers.values()])
      .map(({ metatype }) => metatype as (abstract new () => Record<string, unknown>) | null)
      .filter((controller) => controller !== null)
      .filter((controller) => (controller.prototype as Record<string, unknown>)[name] === handler);
  }
}

function isPlain(controller: object, { handler, name }: Marked): boolean {
  const keys = [...Reflect.getMetadataKeys(controller), ...Reflect.getMetadataKeys(handler as object)];
  if (!keys.every((key) => HARMLESS.test(String(key)))) return false;
  const parameters = (Reflect.getMetadata('__routeArguments__', controller, name) ?? {}) as Record<
    string,
    { readonly pipes?: readonly unknown[] }
  >;
  return Object.values(parameters).every(({ pipes = [] }) => pipes.length === 0);
}
