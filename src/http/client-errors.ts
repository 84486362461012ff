import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors/gateway-error.js';
import type { AccessLog } from './access-log.js';
import { toMethodNotAllowed } from './allowed-methods.js';
import type { Connections, Exchange } from './connections.js';
import { MAX_HEADER_BYTES } from './create-server.js';
import { toProblemAnswer } from './problem-answer.js';
import { SECURITY_HEADERS } from '../representation/security-headers.js';

export type ClientError = Error & { readonly code?: string | undefined; readonly rawPacket?: unknown };

/** Responds directly on the connection to input that never becomes a request: invalid HTTP, slow headers, CONNECT. */
export class ClientErrors {
  readonly #connections: Connections<Exchange>;
  readonly #accessLog: AccessLog;

  constructor(connections: Connections<Exchange>, accessLog: AccessLog) {
    this.#connections = connections;
    this.#accessLog = accessLog;
  }

  /** Node's `clientError`: errors of the connection, of TLS and of HTTP, and timeouts. */
  answer(error: ClientError, socket: Socket): void {
    const connections = this.#connections;
    const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const isHttp = isTimeout || error.code?.startsWith('HPE_');
    if (!isHttp || !socket.writable) {
      socket.destroy();
      return;
    }
    if (connections.awaitsBody(socket)) {
      this.#answerInBody(error, socket);
      return;
    }
    if (!connections.isClosing(socket)) this.#refuse(socket, toProblem(error), null);
  }

  /** An error within the body of a request, which may have its answer already. */
  #answerInBody(error: ClientError, socket: Socket): void {
    const connections = this.#connections;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connections.abandonUnread(socket)) {
      // a route that reads its body would wait for it for ever
      this.#refuse(socket, toProblem(error), null);
    } else if (error.code === 'HPE_INVALID_EOF_STATE') {
      // the caller left: a route that reads the body would wait for the rest
      socket.destroy();
    } else {
      connections.closeAfterResponses(socket);
    }
  }

  /** Node's `connect`. */
  refuseTunnel(request: IncomingMessage, socket: Socket): void {
    this.#refuse(socket, toMethodNotAllowed('CONNECT', 'GET, HEAD, OPTIONS'), request.method ?? null);
  }

  #refuse(socket: Socket, problem: GatewayError, method: string | null): void {
    const requestId = randomUUID();
    this.#accessLog.refused(problem, requestId, method, socket.remoteAddress);
    this.#connections.closeAfterResponses(socket, toLastResponse(problem, requestId));
  }
}

/** The bytes of a whole response, for a connection without a request to answer. */
function toLastResponse(error: GatewayError, requestId: string): Buffer {
  const { headers, body } = toProblemAnswer(error, '/', requestId);
  const all = { ...SECURITY_HEADERS, ...headers, 'x-request-id': requestId, connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\ndate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function toProblem({ code, rawPacket }: ClientError): GatewayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('request-timeout', 'The request was not complete in time.');
  }
  if (code !== 'HPE_HEADER_OVERFLOW') return new GatewayError('malformed-request', 'The request is not valid HTTP.');
  const lineEnd = rawPacket instanceof Buffer ? rawPacket.indexOf('\n') : 0;
  return lineEnd < 0 || lineEnd > MAX_HEADER_BYTES
    ? new GatewayError('request-too-large', `The URL is longer than ${MAX_HEADER_BYTES} bytes.`, { status: 414 })
    : new GatewayError('request-too-large', `The header is larger than ${MAX_HEADER_BYTES} bytes.`, { status: 431 });
}
