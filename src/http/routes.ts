import type { FastifyInstance } from 'fastify';
import { GatewayError } from '../problems/gateway-error.js';

export const ALLOW = 'GET, HEAD, OPTIONS';

interface Route {
  readonly url: string;
  readonly pattern: RegExp;
}

/** The routes there are, by their templates. */
export class Routes {
  readonly #routes: Route[] = [];

  /** Notes each route as it is made. */
  collect(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url }) => {
      const pattern = url
        .replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
        .replace(/:[A-Za-z]+/g, '[^/]+')
        .replaceAll('*', '.*');
      this.#routes.push({ url, pattern: new RegExp(`^${pattern}$`) });
    });
  }

  /** The template for a path, else null. */
  find(path: string): string | null {
    return this.#routes.find(({ pattern }) => pattern.test(path))?.url ?? null;
  }

  /** @throws GatewayError not-found, method-not-allowed; always one of them */
  refuseMethod(method: string, route: string | null): never {
    if (route === null) throw new GatewayError('not-found', 'No route has this path.');
    throw new GatewayError('method-not-allowed', `${method} is not allowed here.`, { headers: { allow: ALLOW } });
  }
}
