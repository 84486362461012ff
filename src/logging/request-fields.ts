import type { ProblemCode } from '../problems/problem-table.js';

/** What a request gathers on its way for its one log line (docs/operations.md, Logs). */
export interface RequestFields {
  /** How the answer came: hit, miss, stale or request. */
  cache?: string;
  /** The reading of the bank that the request waited for. */
  readingId?: string;
  /** The problem it was answered with. */
  code?: ProblemCode;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the HTTP edge for every request; written by the room that knows. */
    logFields: RequestFields;
  }
}
