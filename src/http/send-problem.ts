import type { FastifyReply } from 'fastify';
import '../telemetry/activity.js';
import type { GatewayError } from '../errors/gateway-error.js';
import { chooseType } from '../representation/negotiation.js';
import { toPath } from '../representation/read-query.js';
import { toProblemDocument, toProblemHeaders, type ProblemDocument } from '../errors/problem-document.js';
import { PAGE_HEADERS } from '../representation/security-headers.js';

/** Renders the page of a failed browser navigation. */
export type ToFailurePage = (document: ProblemDocument) => string;

declare module 'fastify' {
  interface FastifyInstance {
    toFailurePage: ToFailurePage;
  }
}

/**
 * Serializes an error as JSON or, with `toPage`, as HTML. `instance` is the path of the request, without its query.
 */
export function toProblemResponse(error: GatewayError, instance: string, requestId: string, toPage?: ToFailurePage) {
  const document = toProblemDocument(error, instance, requestId);
  const body = Buffer.from(toPage ? toPage(document) : JSON.stringify(document));
  const type = toPage && PAGE_HEADERS;
  return { headers: { ...toProblemHeaders(error), ...type, 'content-length': String(body.length) }, body };
}

/** Headers of the response that failed; they do not describe the problem. */
const OF_A_BODY = ['content-disposition', 'content-encoding', 'etag'];

/** Programs that accept any type get JSON; only a browser navigation prefers HTML. */
const TYPES = ['application/problem+json', 'application/json', 'text/html'] as const;

/** Sends a problem document, or its page to a browser. Its code and owner go to the log line and the metrics. */
export function sendProblem(reply: FastifyReply, error: GatewayError): void {
  const { request, server } = reply;
  request.logFields.problem = error;
  const toPage = chooseType(TYPES, request.headers.accept) === 'text/html' ? server.toFailurePage : undefined;
  const { headers, body } = toProblemResponse(error, toPath(request.originalUrl), request.id, toPage);
  for (const name of OF_A_BODY) reply.removeHeader(name);
  reply.code(error.status).headers(headers).send(body);
}
