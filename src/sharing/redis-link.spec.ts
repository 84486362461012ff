import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { until } from '../../test/support/until.js';
import { RedisFailure, RedisLink } from './redis-link.js';

const opened: { readonly sockets: Set<Socket>; readonly server: Server; readonly link: RedisLink }[] = [];

afterEach(async () => {
  for (const { sockets, server, link } of opened.splice(0)) {
    link.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A link to a server that does with each connection as it is told. */
async function connectTo(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let ended = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      ended += 1;
    });
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = { read: () => `redis://127.0.0.1:${(server.address() as AddressInfo).port}` } as never;
  const link = new RedisLink({ REDIS_URL: url, REDIS_KEY_PREFIX: 'x:' }, pino({ level: 'silent' }));
  opened.push({ sockets, server, link });
  return { link, sockets, ended: () => ended };
}

describe('a server that begins an answer and never ends it', () => {
  it('loses its connections, though it is never silent, and what it has sent is not kept', async () => {
    const { link, ended } = await connectTo((socket) => {
      socket.once('data', () => {
        socket.write('$2000000000\r\n');
        const drip = setInterval(() => socket.write('x'.repeat(1000)), 100);
        socket.once('close', () => clearInterval(drip));
      });
    });
    await link.connect(100);
    const deadline = performance.now() + 10_000;
    while (ended() < 3 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(ended()).toBeGreaterThanOrEqual(3);
    expect(link.up).toBe(false);
  });
});

describe('a server that refuses the password', () => {
  it('is told of by its own word, also by those who find no connection afterwards', async () => {
    const { link } = await connectTo((socket) =>
      socket.on('data', () => void socket.write('-WRONGPASS invalid username-password pair\r\n')),
    );
    await link.connect(100);
    await until(() => link.trouble?.reason === 'WRONGPASS');
    const [failure] = await Promise.allSettled([link.send(['TIME'], 100)]);
    expect(failure).toMatchObject({ reason: { reason: 'not-connected' } });
    link.failed('commands', new RedisFailure('not-connected'));
    expect(link.trouble?.reason).toBe('WRONGPASS');
  });
});
