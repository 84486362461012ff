import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Connections, type Exchange } from '../../src/http/connections.js';
import { HTTP_LIMITS } from '../../src/http/http-limits.js';
import { SlowReaders } from '../../src/http/slow-readers.js';
import { onClose } from './closing.js';
import { keepLines } from './log-lines.js';

const MB = 1024 * 1024;

/** A Node server with our connection rules and limits short enough for a test. */
export async function serveConnections(
  listener: RequestListener,
  { waitingBytes = 64 * MB, stallLookMs = 400, stalledLooks = 3 } = {},
) {
  const { logger, lines } = keepLines();
  const limits = {
    ...HTTP_LIMITS,
    unanswered: 3,
    stallLookMs,
    stalledLooks,
    waitingLookMs: 20,
    waitingBytes,
    lingerMs: 200,
  };
  const connections = new Connections<Exchange>(logger, limits);
  const begun: string[] = [];
  const left: ServerResponse[] = [];
  const server: Server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const exchange = { raw: response };
    if (!connections.enter(exchange)) return;
    response.on('finish', () => connections.leave(exchange));
    begun.push(request.url ?? '');
    listener(request, response);
  });
  connections.watch(server, ({ raw }) => left.push(raw));
  new SlowReaders(connections, limits).watch(server);
  onClose(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  const dial = (text: string) => {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
    socket.write(text);
    onClose(() => socket.destroy());
    return socket;
  };
  const reasons = () => lines().map(({ msg }) => String(msg));
  return { connections, server, begun, left, open, dial, reasons };
}

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** More bytes than the system buffers for a client that reads nothing. */
export const LARGE = Buffer.alloc(16 * MB);
/** Even more bytes than that. */
export const SMALLER = LARGE.subarray(0, 7 * MB);
