import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { GatewayError } from '../problems/gateway-error.js';
import { toProblemDocument, toProblemHeaders } from '../problems/problem-document.js';
import type { RequestState } from './request-state.js';
import { SECURITY_HEADERS } from './security-headers.js';

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The one place where errors become bytes. */
export function toProblemAnswer(error: GatewayError, instance: string, requestId: string): ProblemAnswer {
  const body = Buffer.from(JSON.stringify(toProblemDocument(error, instance, requestId)));
  return {
    status: error.status,
    headers: { ...toProblemHeaders(error), 'content-length': String(body.length) },
    body,
  };
}

/** Answers a request that is refused at the door. */
export function refuse(response: ServerResponse, state: RequestState, error: GatewayError): void {
  state.code = error.code;
  const { status, headers, body } = toProblemAnswer(error, state.path, state.requestId);
  response.writeHead(status, { ...state.headers, ...headers });
  response.end(body);
}

/** The bytes of a whole answer, for a connection where there is no request to answer; it is the last one there. */
export function toLastAnswer(error: GatewayError, instance: string, requestId: string): Buffer {
  const { status, headers, body } = toProblemAnswer(error, instance, requestId);
  const all = { ...SECURITY_HEADERS, ...headers, 'x-request-id': requestId, connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ndate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
