import type { FastifyReply } from 'fastify';
import '../logging/request-fields.js';
import type { GatewayError } from '../problems/gateway-error.js';
import { toProblemDocument, toProblemHeaders } from '../problems/problem-document.js';

/** The one place where errors become bytes. `instance` is the path of the request, without its query. */
export function toProblemAnswer(error: GatewayError, instance: string, requestId: string) {
  const body = Buffer.from(JSON.stringify(toProblemDocument(error, instance, requestId)));
  return {
    status: error.status,
    headers: { ...toProblemHeaders(error), 'content-length': String(body.length) },
    body,
  };
}

/** Answers with a problem document, and notes its code and owner for the log line and the figures. */
export function sendProblem(reply: FastifyReply, error: GatewayError): void {
  const { request } = reply;
  request.logFields.problem = error;
  const { status, headers, body } = toProblemAnswer(error, toPath(request.url), request.id);
  reply.code(status).headers(headers).send(body);
}

/** The path of an address, as it came. */
export function toPath(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
