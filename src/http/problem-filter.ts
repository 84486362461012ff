import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { sendProblem } from './send-problem.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';

/** Everything thrown on the way to an answer ends here and leaves as a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error =
      thrown instanceof HttpException || isFastifyError(thrown) ? fromFramework(thrown) : toGatewayError(thrown);
    if (error.code === 'internal-error') {
      this.#logger.error(
        { event: 'internal-error', requestId: request.state.requestId, err: error.cause ?? error },
        'a fault of ours',
      );
    }
    sendProblem(request, http.getResponse<FastifyReply>(), error);
  }
}

type FastifyError = Error & { readonly statusCode: number };

function isFastifyError(thrown: unknown): thrown is FastifyError {
  return (
    thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('FST_') && 'statusCode' in thrown
  );
}

/** What Nest and Fastify refuse by themselves: unknown routes, malformed addresses, bodies. */
export function fromFramework(thrown: HttpException | FastifyError): GatewayError {
  const status = thrown instanceof HttpException ? thrown.getStatus() : thrown.statusCode;
  switch (status) {
    case 404:
      return new GatewayError('not-found', 'No route has this path.');
    case 408:
      return new GatewayError('request-timeout', 'The request was not complete in time.');
    case 413:
    case 414:
    case 431:
      return new GatewayError('request-too-large', 'The request is larger than this service accepts.', { status });
    case 406:
      return new GatewayError('not-acceptable', 'No acceptable format.');
    default:
      if (status >= 400 && status < 500)
        return new GatewayError('malformed-request', 'The address or the body of the request is malformed.');
      return new GatewayError('internal-error', 'An unforeseen fault; see the log for this request id.', {
        cause: thrown,
      });
  }
}
