import type { Span } from '@opentelemetry/api';
import type { GatewayError } from '../problems/gateway-error.js';

/** What a request gathers on its way for its one log line and for the figures (docs/operations.md, Logs). */
export interface RequestFields {
  /** Its server span. */
  readonly span: Span;
  /** How the answer came: hit, miss, stale or request. */
  cache?: 'hit' | 'miss' | 'stale' | 'request';
  /** The reading of the bank that the request waited for. */
  refreshId?: string;
  /** The problem it was answered with, and who must act on that. */
  problem?: Pick<GatewayError, 'code' | 'owner'>;
  /** The answer has no end of its own, so how long it took says nothing. */
  stream?: boolean;
  /** Of a stream: how many events were sent. */
  events?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the HTTP edge for every request; written by the room that knows. */
    logFields: RequestFields;
  }

  interface FastifyReply {
    /**
     * For an answer that goes on until somebody ends it: writes the line of the request now, as one of 200, and
     * `stream.ended` when it is over. Requests behind it on its connection would wait forever: they are not taken.
     */
    beginStream(): void;
  }
}
