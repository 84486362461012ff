import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ListenerCertificate } from './listener-certificate.js';

export const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;

/** The server of the internal API with its limits (docs/api.md#limits); HTTPS where there is a certificate. */
export function createServer(certificate: ListenerCertificate | null, listener: RequestListener): Server {
  const options: ServerOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // how often Node looks at the timeouts above; its own 30 s would make them 40
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: KEEP_ALIVE_MS,
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
  const server = createTlsServer({ ...options, ...certificate.options, handshakeTimeout: HEADERS_TIMEOUT_MS });
  certificate.renew(server);
  return server;
}
