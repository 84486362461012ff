import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { STATUS_CODES, type ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../problems/gateway-error.js';
import { toProblemDocument, toProblemHeaders } from '../problems/problem-document.js';
import { parseQuery } from './parse-query.js';
import { sendProblem } from './send-problem.js';
import type { DoorSettings } from '../settings/settings.js';

const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;

/** How the server of the internal API is made: limits that hold, and errors of the HTTP parser as problem documents. */
export function toServerOptions(settings: DoorSettings) {
  const http: ServerOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    // the timeouts above are looked at this often; Node's own 30 s would make them 40
    connectionsCheckingInterval: 1000,
    // a missing Host is answered by the guard, as a problem document
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const { tls } = settings;
  return {
    ...(tls
      ? {
          https: {
            ...http,
            cert: readFileSync(tls.certFile),
            key: readFileSync(tls.keyFile),
            minVersion: 'TLSv1.2' as const,
          },
        }
      : { http }),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    bodyLimit: 1024,
    return503OnClosing: false,
    forceCloseConnections: 'idle' as const,
    clientErrorHandler: answerParserError,
    frameworkErrors: answerFrameworkError,
    routerOptions: { querystringParser: parseQuery, maxParamLength: 200 },
  };
}

/** Addresses that the router can't read; no hook has run for them. */
function answerFrameworkError(
  error: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  request.state = { requestId: randomUUID(), startedAt: performance.now() };
  reply.header('x-request-id', request.state.requestId);
  const tooLong = error.statusCode === 414;
  sendProblem(
    request,
    reply,
    tooLong
      ? new GatewayError('request-too-large', 'A part of the address is too long.', { status: 414 })
      : new GatewayError('malformed-request', 'The address of the request is malformed.'),
  );
}

const PARSER_ERRORS: Record<string, () => GatewayError> = {
  HPE_HEADER_OVERFLOW: () =>
    new GatewayError('request-too-large', `The header is larger than ${MAX_HEADER_BYTES} bytes.`, { status: 431 }),
  ERR_HTTP_REQUEST_TIMEOUT: () => new GatewayError('request-timeout', 'The request was not complete in time.'),
};

function answerParserError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem =
    PARSER_ERRORS[error.code ?? '']?.() ?? new GatewayError('malformed-request', 'The request is not proper HTTP.');
  const requestId = randomUUID();
  const body = JSON.stringify(toProblemDocument(problem, '/', requestId));
  const headers = {
    ...toProblemHeaders(problem),
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
}
