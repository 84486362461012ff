import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { HttpLimits } from './http-limits.js';
import type { ListenerCertificate } from './listener-certificate.js';

export const MAX_HEADER_BYTES = 16_384;

/** The server of the internal API with its limits (docs/bounds.md#callers); HTTPS where there is a certificate. */
export function createServer(
  certificate: ListenerCertificate | null,
  limits: HttpLimits,
  listener: RequestListener,
): Server {
  const options: ServerOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    // the guard answers a missing Host with a problem document
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const server = certificate ? createRenewedServer(certificate, options) : createPlainServer(options);
  // beyond a limit Node silently leaves headers out, a second Host among them; the guard counts instead
  server.maxHeadersCount = 0;
  server.on('request', listener);
  // a body is never wanted, so the answer itself says so
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  return server;
}

function createRenewedServer(certificate: ListenerCertificate, options: ServerOptions): Server {
  const { headersTimeout: handshakeTimeout } = options;
  const server = createTlsServer({ ...options, ...certificate.options, handshakeTimeout });
  certificate.renew(server);
  return server;
}
