import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ProblemCode } from '../problems/problem-table.js';

/** What a request gathers on its way, for its answer and its one log line. */
export interface RequestState {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** As it came, without query. */
  readonly path: string;
  /** Monotonic, in milliseconds. */
  readonly startedAt: number;
  /** The address of the connection. */
  readonly client: string;
  /** On its answer, whatever that is. */
  readonly headers: OutgoingHttpHeaders;
  /** The template of its route; null until one is found. */
  route: string | null;
  cache?: string;
  readingId?: string;
  code?: ProblemCode;
  /** Called when the caller leaves before his answer is out. */
  onLeft?: () => void;
}

const STATE = Symbol('state');
type Entered = IncomingMessage & { [STATE]?: RequestState };

export function keepState(state: RequestState): void {
  (state.request as Entered)[STATE] = state;
}

/** The state of a request that has come through the door; each one has. */
export function stateOf(request: IncomingMessage): RequestState {
  return (request as Entered)[STATE] as RequestState;
}

/** Answers what can be answered at once; false leaves the request to its route. */
export type FirstAnswer = (state: RequestState, response: ServerResponse) => boolean;

declare module 'fastify' {
  interface FastifyInstance {
    /** Asks `answer` first for each GET and HEAD that the door lets in: the router costs more than a ready answer. */
    answerFirst(answer: FirstAnswer): void;
  }
  interface FastifyRequest {
    state: RequestState;
  }
}
