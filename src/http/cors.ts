import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { GatewayError } from '../problems/gateway-error.js';

const REQUEST_HEADERS = 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name';
const EXPOSED_HEADERS =
  'Age, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After';
const PREFLIGHT_SECONDS = '600';

/** CORS for exactly the listed origins (the Fetch standard's preflight included). */
export class Cors {
  readonly #listed: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#listed = new Set(origins);
  }

  /** Adds what belongs on every answer to this caller. */
  addHeaders({ origin }: IncomingHttpHeaders, answer: OutgoingHttpHeaders): void {
    if (this.#listed.size === 0) return;
    answer['vary'] = 'Origin';
    if (origin === undefined || !this.#listed.has(origin)) return;
    answer['access-control-allow-origin'] = origin;
    answer['access-control-expose-headers'] = EXPOSED_HEADERS;
  }

  isPreflight({ origin, 'access-control-request-method': method }: IncomingHttpHeaders): boolean {
    return origin !== undefined && method !== undefined;
  }

  /**
   * What to answer a preflight with, besides `addHeaders`.
   * @throws GatewayError client-not-allowed for one from elsewhere
   */
  preflightHeaders({ origin = '' }: IncomingHttpHeaders): OutgoingHttpHeaders {
    if (!this.#listed.has(origin)) {
      throw new GatewayError('client-not-allowed', 'This origin is not in CORS_ORIGINS.');
    }
    return {
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    };
  }
}
