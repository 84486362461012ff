import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
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
 * Creates one host of the bank, with at least TLS 1.2, not yet listening. Before TLS, the switch `unlisted` may reset or
 * drop connections from addresses that are not on the allowlist. A host that issues tokens requires a client
 * certificate. A host that only serves accounts requests one, but also accepts requests without one or with an unknown
 * one.
 */
export function createBankServer(bank: BankState, options: BankServerOptions): Server {
  const { endpoints, roots, closing, script } = options;
  let { current: ca } = roots;
  const tls = { minVersion: 'TLSv1.2', ca, ...options.tls } as const;
  const connections = new Map<string, Socket>();
  const tcpOf = ({ socket }: IncomingMessage): Socket | undefined => connections.get(toKey(socket));
  const bankServer = createTlsServer(
    { requestCert: true, rejectUnauthorized: endpoints.includes('authorize'), ...tls },
    (request, response) => {
      serveRequest(request, response, bank, { endpoints, closing, tcpOf, script }).catch(() => response.destroy());
    },
  );
  bankServer.on('tlsClientError', () => bank.log.handshakesFailed++);
  closing.addEventListener('abort', () => connections.forEach((socket) => socket.destroy()), { once: true });
  return createServer((socket) => {
    const key = toKey(socket);
    connections.set(key, socket);
    socket.on('close', () => connections.delete(key));
    socket.on('error', () => undefined);
    const { unlisted } = bank.switches.values;
    if (unlisted !== '403' && !bank.switches.admits(socket.remoteAddress ?? '')) {
      if (unlisted === 'reset') socket.resetAndDestroy();
      // what is read is ignored, so that the caller's end is seen
      else socket.resume();
      return;
    }
    if (roots.current !== ca) {
      ca = roots.current;
      bankServer.setSecureContext({ ...tls, ca });
    }
    bankServer.emit('connection', socket);
  });
}

function toKey({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
