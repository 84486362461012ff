import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { GatewayError } from '../problems/gateway-error.js';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';
import { MAX_HEADER_BYTES } from './open-server.js';
import { toLastAnswer } from './problem-answer.js';

export type ParserError = Error & { readonly code?: string | undefined; readonly rawPacket?: unknown };

/** What the parser of HTTP refuses never becomes a request: answered on the connection itself, which ends with it. */
export class ParserErrors {
  readonly #connections: Connections;
  readonly #logger: Logger;

  constructor(connections: Connections, logger: Logger) {
    this.#connections = connections;
    this.#logger = logger;
  }

  /** Node's `clientError`: faults of the connection, of TLS and of HTTP, and timeouts. */
  answer(error: ParserError, socket: Socket): void {
    const connection = this.#connections.of(socket);
    if (connection?.broken) return;
    const isHttp = error.code?.startsWith('HPE_') || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (!connection || !isHttp || !socket.writable) {
      socket.destroy();
      return;
    }
    // the fault is in a body that was not wanted; its request has its answer, or will have it
    if (connection.answeredEarly) connection.close(Buffer.alloc(0));
    else this.refuse(connection, toProblem(error), '/', null);
  }

  /** Ends a connection with a problem document, after the answers that are still to come there. */
  refuse(connection: Connection, problem: GatewayError, instance: string, method: string | null): void {
    const requestId = randomUUID();
    connection.close(toLastAnswer(problem, instance, requestId));
    const { code, status } = problem;
    const { client } = connection;
    this.#logger.info({ event: 'request', requestId, method, route: null, status, ms: 0, code, client }, 'request');
  }
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
