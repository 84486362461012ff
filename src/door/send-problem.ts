import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayError } from '../problems/gateway-error.js';
import { toProblemDocument, toProblemHeaders } from '../problems/problem-document.js';

/** The path of a request as it came, without its query. */
export function pathOf(request: FastifyRequest): string {
  const { url } = request.raw;
  return url?.split('?', 1)[0] ?? '/';
}

/** Answers with a problem document; the one place where errors become bytes. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: GatewayError): void {
  request.state.code = error.code;
  const body = toProblemDocument(error, pathOf(request), request.state.requestId);
  reply
    .code(error.status)
    .headers(toProblemHeaders(error))
    .send(Buffer.from(JSON.stringify(body)));
}
