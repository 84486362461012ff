import type { Span } from '@opentelemetry/api';
import type { GatewayError } from '../errors/gateway-error.js';

/** Fields of a request for its log line and metrics (docs/logs.md#events). */
export interface RequestFields {
  /** Time of arrival, by `performance.now()`. */
  readonly startedAt: number;
  /** The server span of the request, while traces are sent. */
  readonly span: Span | undefined;
  /** Bytes of the body of its response. */
  bytes: number;
  /**
   * The snapshot of the answer: cached; from a refresh, because nothing was cached, the cached one was too old, or the caller asked
   * for it; or an older one, marked stale.
   */
  cache?: 'hit' | 'miss' | 'refreshed' | 'request' | 'stale';
  /** The refresh that the request waited for. */
  refreshId?: string;
  /** The code of the problem response, and the party that must act. */
  problem?: Pick<GatewayError, 'code' | 'owner'>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Created by the request log for every request; each component adds the fields that it knows. */
    logFields: RequestFields;
  }
}
