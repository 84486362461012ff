import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors/gateway-error.js';

const REQUEST_HEADERS = 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent';
const EXPOSED_HEADERS =
  'Age, Content-Disposition, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After';
const PREFLIGHT_SECONDS = '600';

type Headers = Readonly<Record<string, string>>;

/** CORS for exactly the listed origins (the Fetch standard's preflight included). */
export class Cors {
  readonly #isListed: (origin: string | undefined) => boolean;

  constructor(origins: readonly string[]) {
    this.#isListed = createOriginCheck(origins);
  }

  /** Headers of every response to a caller with this origin. */
  headersFor(origin: string): Headers {
    if (!this.#isListed(origin)) return {};
    return {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': EXPOSED_HEADERS,
    };
  }

  isPreflight({ origin, 'access-control-request-method': method }: IncomingHttpHeaders): boolean {
    return origin !== undefined && method !== undefined;
  }

  /**
   * Headers of a preflight response, besides `headersFor`.
   * @throws GatewayError client-not-allowed for one from elsewhere
   */
  preflightHeaders({ origin = '' }: IncomingHttpHeaders): Headers {
    if (!this.#isListed(origin)) {
      throw new GatewayError('client-not-allowed', 'This origin is not in CORS_ORIGINS.');
    }
    return {
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    };
  }
}

/** Creates a check for listed origins; `:*` at the end of one means any port or none. */
export function createOriginCheck(listed: readonly string[]): (origin: string | undefined) => boolean {
  const exact = new Set(listed);
  const anyPort = new Set(listed.filter((each) => each.endsWith(':*')).map((each) => each.slice(0, -2)));
  return (origin) =>
    origin !== undefined &&
    !origin.endsWith('*') &&
    (exact.has(origin) || anyPort.has(origin.replace(/:\d{1,5}$/, '')));
}
