import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors/gateway-error.js';
import { SECURITY_HEADERS } from '../representation/security-headers.js';
import { MAX_HEADER_BYTES } from './http-limits.js';
import { toProblemResponse } from './send-problem.js';
import type { RequestLog } from './request-log.js';
import type { UnderWay } from './under-way.js';

interface ClientErrorParts {
  readonly log: RequestLog;
  readonly underWay: UnderWay;
  readonly lingerMs: number;
}

/** Answers Node's `clientError`: errors of the connection, of TLS and of HTTP, and timeouts. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, parts: ClientErrorParts): void {
  // more of the same input while the response is being read
  if (socket.writableEnded) return;
  const isHttp = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code?.startsWith('HPE_');
  // a response now would be taken for part of the responses under way
  if (!isHttp || !socket.writable || parts.underWay.of(socket) > 0) socket.destroy();
  else reject(socket, toProblem(error), null, parts);
}

/** Sends a problem on a connection without a request to answer, and closes it. */
export function reject(
  socket: Socket,
  problem: GatewayError,
  method: string | null,
  { log, lingerMs }: ClientErrorParts,
): void {
  const requestId = randomUUID();
  log.rejected(problem, requestId, method, socket.remoteAddress);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  // Node removes its own listener at CONNECT; without one, a reset would end the process
  socket.on('error', () => undefined);
  socket.end(toLastResponse(problem, requestId));
}

function toLastResponse(error: GatewayError, requestId: string): Buffer {
  const { headers, body } = toProblemResponse(error, '/', requestId);
  const all = { ...SECURITY_HEADERS, ...headers, 'x-request-id': requestId, connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\ndate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function toProblem({ code }: NodeJS.ErrnoException): GatewayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('request-timeout', 'The request was not complete in time.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const detail = `The URL and the header are larger than ${MAX_HEADER_BYTES} bytes.`;
    return new GatewayError('request-too-large', detail, { status: 431 });
  }
  const hint = 'In its URL, percent-encode spaces and characters outside ASCII.';
  return new GatewayError('malformed-request', `The request is not valid HTTP. ${hint}`);
}
