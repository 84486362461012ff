import type { ProblemCode } from '../problems/problem-table.js';

/** What a request gathers on its way, for its one log line. */
export interface RequestState {
  readonly requestId: string;
  readonly startedAt: number;
  cache?: string;
  readingId?: string;
  code?: ProblemCode;
}

declare module 'fastify' {
  interface FastifyRequest {
    state: RequestState;
  }
}
