import { Injectable, SetMetadata, StandardSchemaValidationPipe } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, preHandlerHookHandler } from 'fastify';
import { CachedResponses } from './cached-responses.js';

type Controller = (abstract new () => unknown) & { readonly prototype: Record<string, unknown> };

interface Mark {
  /** The handler as it was declared. */
  readonly handler: unknown;
  readonly name: string;
}

const MARK = 'accounts-gateway:may-be-cached';

/**
 * For a handler whose answers may leave from memory. They do only where nothing of Nest's stands between the route and
 * the handler; a guard, an interceptor, a pipe, or metadata that one of these could read, and all requests reach it.
 */
export function MayBeCached(): MethodDecorator {
  return (target, name, descriptor) => {
    const mark: Mark = { handler: descriptor.value, name: String(name) };
    SetMetadata(MARK, mark)(target, name, descriptor);
    RouteConfig({ mayBeCached: mark })(target, name, descriptor);
  };
}

/** What Nest and its packages write on a controller or handler, and nothing reads on the way to it; all else may be read. */
const HARMLESS = new Set(['__controller__', '__fastify_route_config__', '__version__', 'host', 'method', 'path', MARK]);
const HARMLESS_PREFIXES = ['design:', 'scope:', 'self:', 'swagger/'];
const isHarmless = (key: string): boolean =>
  HARMLESS.has(key) || HARMLESS_PREFIXES.some((prefix) => key.startsWith(prefix));

/**
 * The cache before the routes (docs/architecture.md#the-response-cache): a Fastify hook of the route, the last before its
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
      const { mayBeCached } = (route.config ?? {}) as { readonly mayBeCached?: Mark };
      if (!mayBeCached || !this.#isOpen(mayBeCached)) return;
      route.preHandler = [route.preHandler ?? []].flat().concat(answer);
    });
  }

  /** Whether nothing of Nest's would see a request before this handler. */
  #isOpen(mark: Mark): boolean {
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
    const controllers = this.#controllersOf(mark);
    return global.length === 0 && controllers.length > 0 && controllers.every((each) => isPlain(each, mark));
  }

  /** All whose handler has this mark: by inheritance too, and where another decorator has put its own in its place. */
  #controllersOf(mark: Mark): Controller[] {
    return [...this.modules.values()]
      .flatMap((module) => [...module.controllers.values()])
      .map(({ metatype }) => metatype as Controller | null)
      .filter((controller) => controller !== null)
      .filter((controller) => {
        const handler = controller.prototype[mark.name];
        return typeof handler === 'function' && Reflect.getMetadata(MARK, handler) === mark;
      });
  }
}

function isPlain(controller: Controller, { handler, name }: Mark): boolean {
  if (controller.prototype[name] !== handler) return false;
  const keys = [...Reflect.getMetadataKeys(controller), ...Reflect.getMetadataKeys(handler as object)];
  if (!keys.every((key) => isHarmless(String(key)))) return false;
  const parameters = (Reflect.getMetadata('__routeArguments__', controller, name) ?? {}) as Record<
    string,
    { readonly pipes?: readonly unknown[] }
  >;
  return Object.values(parameters).every(({ pipes = [] }) => pipes.length === 0);
}
