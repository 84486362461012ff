import { constants } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { json, type Handler } from './pretend-bank.js';
import { until } from './until.js';

/**
 * TLS options of a bank that accepts every handshake, and requests the certificate after it has read the path. Without
 * tickets, because a renegotiation that resumes a session requests no certificate.
 */
export const ASKS_LATE = { requestCert: false, secureOptions: constants.SSL_OP_NO_TICKET } as const;

/**
 * Calls `handler` for clients that present a certificate of the bank's CA after the request, through TLS 1.2 renegotiation.
 * Everyone over TLS 1.3 gets 403 as from Apache.
 */
export function askingLate(handler: Handler): Handler {
  return (request, response, url) => {
    const socket = request.socket as TLSSocket;
    const hasShown = () => socket.getPeerCertificate().subject !== undefined;
    const judge = async () => {
      // the runtime does not report the end of the second handshake
      await until(hasShown);
      handler(request, response, url);
    };
    if (hasShown()) handler(request, response, url);
    else if (socket.getProtocol() === 'TLSv1.3') json(response, 403, {});
    else socket.renegotiate({ requestCert: true, rejectUnauthorized: true }, () => void judge());
  };
}
