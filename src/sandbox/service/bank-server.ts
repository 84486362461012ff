import { createServer, type Server, type ServerOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Endpoint } from '../state/faults.js';
import type { BankState } from '../state/bank-state.js';
import type { ClientRoots } from '../identity/client-roots.js';
import { serveRequest, type Script } from './serve-request.js';

interface BankServerOptions {
  readonly endpoints: readonly Endpoint[];
  readonly tls: ServerOptions;
  readonly roots: ClientRoots;
  readonly closing: AbortSignal;
  readonly script: Script | undefined;
}

/**
 * Creates one host of the bank, with at least TLS 1.2, not yet listening. A host that issues tokens requires a client
 * certificate. A host that only serves accounts requests one, but also accepts requests without one or with an unknown
 * one.
 */
export function createBankServer(bank: BankState, options: BankServerOptions): Server {
  const { endpoints, roots, closing, script } = options;
  let { current: ca } = roots;
  const tls = { minVersion: 'TLSv1.2', ca, ...options.tls } as const;
  const connections = new Map<string, Socket>();
  const tcpOf = ({ socket }: IncomingMessage): Socket | undefined => connections.get(toKey(socket));
  const server = createServer(
    { requestCert: true, rejectUnauthorized: endpoints.includes('authorize'), ...tls },
    (request, response) => {
      serveRequest(request, response, bank, { endpoints, closing, tcpOf, script }).catch(() => response.destroy());
    },
  );
  // before the handshake begins
  server.prependListener('connection', () => {
    if (roots.current === ca) return;
    ca = roots.current;
    server.setSecureContext({ ...tls, ca });
  });
  server.on('connection', (socket: Socket) => {
    const key = toKey(socket);
    connections.set(key, socket);
    socket.on('close', () => connections.delete(key));
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => bank.log.handshakesFailed++);
  // closeAllConnections() leaves handshakes under way open
  closing.addEventListener('abort', () => connections.forEach((socket) => socket.destroy()), { once: true });
  return server;
}

function toKey({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
