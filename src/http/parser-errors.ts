import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../problems/gateway-error.js';
import type { AccessLog } from './access-log.js';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';
import { MAX_HEADER_BYTES } from './open-server.js';
import { toProblemAnswer } from './problem-answer.js';
import { SECURITY_HEADERS } from './security-headers.js';

export type ParserError = Error & { readonly code?: string | undefined; readonly rawPacket?: unknown };

/** What Node's HTTP parser refuses never becomes a request: answered on the connection itself, which ends with it. */
export class ParserErrors {
  readonly #connections: Connections;
  readonly #accessLog: AccessLog;

  constructor(connections: Connections, accessLog: AccessLog) {
    this.#connections = connections;
    this.#accessLog = accessLog;
  }

  /** Node's `clientError`: faults of the connection, of TLS and of HTTP, and timeouts. */
  answer(error: ParserError, socket: Socket): void {
    const connection = this.#connections.has(socket) ? this.#connections.of(socket) : null;
    if (connection?.broken) return;
    const isHttp = error.code?.startsWith('HPE_') || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (!connection || !isHttp || !socket.writable) {
      socket.destroy();
      return;
    }
    // the fault is in a body that was not wanted; its request has its answer, or will have it
    if (connection.answeredEarly) connection.close(Buffer.alloc(0));
    else this.#refuse(connection, toProblem(error), null);
  }

  /** Node's `connect`: nobody gets a tunnel here. */
  refuseTunnel(request: IncomingMessage, socket: Socket): void {
    const problem = new GatewayError('method-not-allowed', 'CONNECT is not allowed here.', {
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
    this.#refuse(this.#connections.of(socket), problem, request.method ?? null);
  }

  /** Ends a connection with a problem document, after the answers that are still to come there. */
  #refuse(connection: Connection, problem: GatewayError, method: string | null): void {
    const requestId = randomUUID();
    connection.close(toLastAnswer(problem, requestId));
    this.#accessLog.refused(problem, requestId, method, connection.client);
  }
}

/** The bytes of a whole answer, for a connection where there is no request to answer. */
function toLastAnswer(error: GatewayError, requestId: string): Buffer {
  const { status, headers, body } = toProblemAnswer(error, '/', requestId);
  const all = { ...SECURITY_HEADERS, ...headers, 'x-request-id': requestId, connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ndate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function toProblem({ code, rawPacket }: ParserError): GatewayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('request-timeout', 'The request was not complete in time.');
  }
  if (code !== 'HPE_HEADER_OVERFLOW') return new GatewayError('malformed-request', 'The request is not proper HTTP.');
  const lineEnd = rawPacket instanceof Buffer ? rawPacket.indexOf('\n') : 0;
  return lineEnd < 0 || lineEnd > MAX_HEADER_BYTES
    ? new GatewayError('request-too-large', `The address is longer than ${MAX_HEADER_BYTES} bytes.`, { status: 414 })
    : new GatewayError('request-too-large', `The header is larger than ${MAX_HEADER_BYTES} bytes.`, { status: 431 });
}
