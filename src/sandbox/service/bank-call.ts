import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { toPlainAddress } from '../state/allowlist.js';

/** A request, parsed as far as the endpoints need it. */
export interface BankCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly hasBody: boolean;
  readonly clientAddress: string;
  /** SHA-1 of the presented client certificate, upper-case hex. */
  readonly thumbprint: string | null;
}

export function toBankCall(request: IncomingMessage): BankCall {
  const socket = request.socket as TLSSocket;
  const url = request.url ?? '';
  const mark = url.indexOf('?');
  const length = request.headers['content-length'];
  return {
    method: request.method ?? '',
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    headers: request.headers,
    hasBody: request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0),
    clientAddress: toPlainAddress(socket.remoteAddress ?? ''),
    thumbprint: socket.getPeerX509Certificate()?.fingerprint.replaceAll(':', '') ?? null,
  };
}
