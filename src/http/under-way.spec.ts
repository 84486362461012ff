import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../../test/support/closing.js';
import { until } from '../../test/support/until.js';
import { HTTP_LIMITS } from './http-limits.js';
import { UnderWay } from './under-way.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** More bytes than the system buffers for a client that reads nothing. */
const LARGE = Buffer.alloc(16 * 1024 * 1024);

const NO_GRACE = { SHUTDOWN_DELAY_MS: 0, SHUTDOWN_GRACE_MS: 0 };

describe('the responses under way', () => {
  it('are at most 8 on one connection, independently of other connections', () => {
    const underWay = new UnderWay(HTTP_LIMITS, NO_GRACE);
    const [one, other] = [new Socket(), new Socket()];
    expect(Array.from({ length: 9 }, () => underWay.begin(one))).toEqual([...Array<boolean>(8).fill(true), false]);
    expect(underWay.begin(other)).toBe(true);
    for (let index = 0; index < 2; index++) underWay.end(one, 0);
    expect([underWay.of(one), underWay.begin(one)]).toEqual([7, true]);
  });

  it('have at most 256 MB in total; a rejected one takes up nothing', () => {
    const underWay = new UnderWay(HTTP_LIMITS, NO_GRACE);
    const limit = 256 * 1024 * 1024;
    expect([underWay.addBytes(limit - 1), underWay.addBytes(2), underWay.addBytes(1)]).toEqual([true, false, true]);
    const socket = new Socket();
    underWay.begin(socket);
    underWay.end(socket, 5);
    expect([underWay.addBytes(5), underWay.addBytes(1)]).toEqual([true, false]);
  });
});

describe('closing all connections', () => {
  // test/process/start-and-stop tests the process
  async function serve(listener: RequestListener) {
    const settings = { SHUTDOWN_DELAY_MS: 0, SHUTDOWN_GRACE_MS: 60_000 };
    const underWay = new UnderWay({ ...HTTP_LIMITS, lastRequestMs: 100 }, settings);
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      underWay.begin(request.socket);
      response.once('close', () => underWay.end(request.socket, 0));
      listener(request, response);
    });
    underWay.watch(server);
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
    return { stop: () => underWay.beforeApplicationShutdown(), dial, open };
  }

  it('answers a request that arrives on an open connection while another response is under way', async () => {
    const waiting: (() => void)[] = [];
    const { stop, dial, open } = await serve((request, response) => {
      if (request.url === '/now') response.end('now');
      else waiting.push(() => response.end('late'));
    });
    const [kept, late] = [dial(''), dial(GET)];
    await until(() => open.size === 2 && waiting.length === 1);
    const drained = stop();
    kept.write(GET.replace('/', '/now'));
    const [answer] = (await once(kept, 'data')) as [Buffer];
    expect(String(answer)).toContain('now');
    waiting[0]?.();
    expect(String((await once(late, 'data'))[0])).toContain('late');
    await drained;
  });

  it('answers a request that has arrived, even if this process was blocked past the time for last requests', async () => {
    const { stop, dial, open } = await serve((_request, response) => response.end('last'));
    const kept = dial('');
    const answer = once(kept, 'data');
    await until(() => open.size === 1);
    // so that timers are due before sockets are read
    await setImmediate();
    const drained = stop();
    kept.write(GET);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    expect(String((await answer)[0])).toContain('last');
    kept.destroy();
    await drained;
  });

  it('sends a completed response in full, and waits for its reader', async () => {
    let begun = 0;
    const { stop, dial } = await serve((_request, response) => {
      begun += 1;
      response.end(LARGE);
    });
    const socket = dial(GET).pause();
    const closed = once(socket, 'close');
    await until(() => begun === 1);
    const drained = stop();
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => void (bytes += chunk.length)).resume();
    await Promise.all([drained, closed]);
    expect(bytes).toBeGreaterThan(LARGE.length);
  });
});
