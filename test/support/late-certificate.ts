import { constants } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { json, type Handler } from './pretend-bank.js';
import { until } from './until.js';

/**
 * For a bank that lets everybody through the handshake, and asks for the certificate when it has seen the path. Without
 * tickets: a renegotiation that resumes a session asks for none.
 */
export const ASKS_LATE = { requestCert: false, secureOptions: constants.SSL_OP_NO_TICKET } as const;

/**
 * Answers by `handler` those who show a certificate of the bank's authority after the request, by renegotiation as TLS
 * 1.2 has it; all others, and everybody over TLS 1.3, get 403 as from Apache.
 */
export function askingLate(handler: Handler): Handler {
  return (request, response, url) => {
    const socket = request.socket as TLSSocket;
    const hasShown = () => socket.getPeerCertificate().subject !== undefined;
    const judge = async () => {
      // the runtime does not say when the second handshake is through
      await until(hasShown, 500).catch(() => undefined);
      if (hasShown()) handler(request, response, url);
      else json(response, 403, {});
    };
    if (hasShown()) handler(request, response, url);
    else if (socket.getProtocol() === 'TLSv1.3') json(response, 403, {});
    else socket.renegotiate({ requestCert: true, rejectUnauthorized: true }, () => void judge());
  };
}
