import type { Span } from '@opentelemetry/api';
import type { GatewayError } from '../problems/gateway-error.js';

/** Fields of a request for its log line and metrics (docs/logs.md#events). */
export interface RequestFields {
  /** When it came, by `performance.now()`. */
  readonly startedAt: number;
  /** Its line has been written. */
  logged?: boolean;
  /** Its server span. */
  readonly span: Span;
  /** The state of the cache. `request`: the caller asked for a refresh. */
  cache?: 'hit' | 'miss' | 'stale' | 'request';
  /** The refresh that the request waited for. */
  refreshId?: string;
  /** The problem it was answered with, and who must act on that. */
  problem?: Pick<GatewayError, 'code' | 'owner'>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the HTTP edge for every request; written by whoever knows. */
    logFields: RequestFields;
  }
}
