import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Endpoint, Fault } from '../state/faults.js';
import { ok, problem, type Answer } from './answer.js';

const FIREWALL_PAGE =
  '<!DOCTYPE html><html><head><title>Request Rejected</title></head><body>The requested URL was rejected. ' +
  'Please consult with your administrator.<br>Your support ID is: 0000000000000000000</body></html>';

/** The response that replaces the normal one; null for a fault of the connection. */
export function toFaultAnswer(fault: Fault, endpoint: Endpoint): Answer | null {
  switch (fault) {
    case '401':
      return problem(401, 'Ordered by failNext.', {
        'www-authenticate': endpoint === 'authorize' ? 'Basic realm="sandbox"' : 'Bearer error="invalid_token"',
      });
    case '404':
    case '503':
      return problem(Number(fault), 'Ordered by failNext.');
    case '429':
      return problem(429, 'Ordered by failNext.', { 'retry-after': '2' });
    case '500':
      return { status: 500, headers: {}, body: '' };
    case 'html':
      return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: FIREWALL_PAGE };
    case 'malformed':
      return ok('{"result":[{"accountId":');
    case 'truncate':
    case 'reset':
    case 'hang':
      return null;
  }
}

/** Sends half of a response with the Content-Length of the whole, then ends the connection. */
export function sendTruncated(response: ServerResponse, answer: Answer): void {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => response.socket?.end());
}

/** Ends the connection with a TCP reset. Needs the socket below TLS: a TLSSocket itself cannot send one. */
export function resetConnection(response: ServerResponse, tcp: Socket | undefined): void {
  tcp?.resetAndDestroy();
  response.socket?.destroy();
}
