import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { keepLines } from '../../test/support/log-lines.js';
import { until } from '../../test/support/until.js';
import { Connections } from './connections.js';

const MB = 1024 * 1024;
const LIMITS = { unanswered: 3, stallLookMs: 400, stalledLooks: 3, waitingLookMs: 20 };
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** More than the system takes for a client that reads nothing. */
const LARGE = Buffer.alloc(16 * MB);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(listener: RequestListener, { maxConnections = 100, waitingBytes = 64 * MB } = {}) {
  const { logger, lines } = keepLines();
  const connections = new Connections(logger, { ...LIMITS, waitingBytes });
  const begun: string[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    if (!connections.enter(request, response)) return;
    begun.push(request.url ?? '');
    listener(request, response);
  });
  servers.push(server);
  connections.watch(server, maxConnections);
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
    return socket;
  };
  const reasons = () => lines().map(({ msg }) => String(msg));
  return { connections, server, begun, open, dial, reasons };
}

describe('a connection', () => {
  it('with too many unanswered requests is closed, and what follows is not begun', async () => {
    const { begun, dial, reasons } = await serve(() => undefined);
    await once(dial(GET.repeat(1000)), 'close');
    expect(begun).toHaveLength(3);
    expect(reasons()).toEqual(['closing a connection: it has more than 3 unanswered requests']);
  });
});

describe('a client', () => {
  it('that takes no byte of a response is disconnected', async () => {
    const { dial, open, reasons } = await serve((_request, response) => response.end(LARGE.subarray(0, 7 * MB)));
    const socket = dial(GET).pause();
    await until(() => open.size === 1);
    await until(() => open.size === 0);
    expect(reasons()).toEqual(['closing a connection: the client reads no bytes of a response']);
    socket.destroy();
  });

  it('that takes it slowly gets all of it, and so does one whose answer takes long', async () => {
    const { dial, open } = await serve((request, response) => {
      setTimeout(() => response.end(LARGE.subarray(0, 7 * MB)), request.url === '/' ? 0 : 1000);
    });
    const sockets = [dial(GET), dial(GET.replace('/', '/late'))];
    const read = sockets.map(() => 0);
    for (const [index, socket] of sockets.entries()) {
      socket.on('data', (chunk: Buffer) => {
        read[index] = (read[index] ?? 0) + chunk.length;
        socket.pause();
        setTimeout(() => socket.resume(), 8);
      });
    }
    await until(() => read.every((bytes) => bytes > 7 * MB));
    expect(open.size).toBe(2);
    for (const socket of sockets) socket.destroy();
  });

  it('for whom the most bytes wait is disconnected when too many wait in total', async () => {
    const { dial, open, reasons } = await serve(
      (request, response) => response.end(request.url === '/' ? LARGE : LARGE.subarray(0, 7 * MB)),
      { waitingBytes: 8 * MB },
    );
    const small = dial(GET.replace('/', '/small')).pause();
    await until(() => open.size === 1);
    const large = dial(GET).pause();
    await until(() => reasons().length === 1);
    expect(reasons()[0]).toContain('too many response bytes');
    await until(() => open.size === 1);
    for (const socket of [small, large]) socket.destroy();
  });
});

describe('the end of all connections', () => {
  it('closes those that never sent a byte at once, and waits for a response until the grace is over', async () => {
    const { connections, server, begun, dial, open } = await serve(() => undefined);
    const [silent, waiting] = [dial(''), dial(GET)];
    await until(() => open.size === 2 && begun.length === 1);
    const drained = connections.drain(server, 300);
    await once(silent.resume(), 'close');
    await until(() => open.size === 1);
    await drained;
    await once(waiting.resume(), 'close');
  });
});
