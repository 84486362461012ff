import { randomInt } from 'node:crypto';
import { createServer as createWebServer, type RequestListener, type Server as WebServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';
import { onClose } from './closing.js';

export interface RawServer {
  readonly port: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Number of connections since the start. */
  readonly accepted: number;
  close(): Promise<void>;
}

/** A TCP server on 127.0.0.1 or `host` with the handler `onSocket`, which by default stays silent. */
export async function startRawServer(
  onSocket: (socket: Socket) => void = (socket) => socket.resume(),
  host = '127.0.0.1',
): Promise<RawServer> {
  return listen(createServer(), onSocket, host);
}

/** The same over TLS; `onSocket` gets the TLS connection. */
export async function startTlsServer(options: TlsOptions, onSocket: (socket: TLSSocket) => void): Promise<RawServer> {
  const server = createTlsServer(options, onSocket);
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => socket.on('error', () => undefined));
  return listen(server, () => undefined, '127.0.0.1');
}

async function listen(server: Server, onSocket: (socket: Socket) => void, host: string): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const counted = { accepted: 0 };
  server.on('connection', (socket: Socket) => {
    counted.accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const close = async () => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onClose(close);
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close,
    get accepted() {
      return counted.accepted;
    },
  };
}

/**
 * A port of 127.0.0.1 where nothing listens. It is below the range of ports that the system assigns, so that no server
 * on port 0 gets it.
 */
export async function closedPort(): Promise<number> {
  const port = randomInt(10_000, 32_000);
  return (await accepts(port)) ? closedPort() : port;
}

/** True if a server listens on this port of 127.0.0.1. */
export async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** An HTTP server on a free port of 127.0.0.1. Returns its address. */
export async function startWebServer(serving: RequestListener | WebServer): Promise<string> {
  const server = typeof serving === 'function' ? createWebServer(serving) : serving;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
