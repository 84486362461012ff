import { ServerResponse } from 'node:http';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyError, FastifyReply } from 'fastify';
import { Log } from '../telemetry/log.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '../errors/problem-table.js';
import { sendProblem } from './send-problem.js';

/** Answers everything thrown during a request with a problem document (docs/errors.md). */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply | ServerResponse>();
    if (reply instanceof ServerResponse) {
      // from middleware, which gets Node's objects: Fastify catches the error, and calls this again with its own
      http.getNext<(error: Error) => void>()(thrown instanceof Error ? thrown : toGatewayError(thrown));
      return;
    }
    if (isAborted(thrown, reply)) return;
    const error = toProblem(thrown, reply.request.is404);
    if (error.code === 'internal-error') {
      const { code, owner, cause } = error;
      const line = { event: 'request.failed', requestId: reply.request.id, code, owner, err: cause ?? error };
      this.log.logger.error(line, 'the request failed with an internal error');
    }
    if (reply.sent) return;
    if (reply.raw.headersSent) reply.raw.destroy();
    else sendProblem(reply, error);
  }
}

/** True for Node's error about a body whose caller left halfway: the access log has a line for it. */
const isAborted = (thrown: unknown, { request }: FastifyReply): boolean =>
  request.raw.socket.destroyed && (thrown as NodeJS.ErrnoException | null)?.code === 'ECONNRESET';

/** Converts any thrown value to a problem. `isUnrouted`: no route was found for the request. */
function toProblem(thrown: unknown, isUnrouted: boolean): GatewayError {
  const ofNest = thrown instanceof HttpException ? thrown : null;
  const ofFastify = toFastifyError(ofNest ? ofNest.cause : thrown);
  const status = ofNest?.getStatus() ?? ofFastify?.statusCode ?? 500;
  if (status < 400 || status >= 500) return toGatewayError(thrown);
  if (isUnrouted && status === 404) return new GatewayError('not-found', 'No route has this path.');
  // the message of a Fastify error may quote the request
  if (ofNest && !ofFastify) return new GatewayError(toCode(status), ofNest.message, { status });
  return status === 413 || status === 431
    ? new GatewayError('request-too-large', 'The request is larger than this service accepts.', { status })
    : new GatewayError('malformed-request', 'The body of the request is malformed.');
}

/** The code of a Nest exception with a 4xx status. */
function toCode(status: number): ProblemCode {
  if (status === 401) return 'client-not-allowed';
  return PROBLEM_CODES.find((code) => PROBLEMS[code].status === status) ?? 'invalid-request';
}

const toFastifyError = (error: unknown): FastifyError | null =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('FST_') ? (error as FastifyError) : null;
