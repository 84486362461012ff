import { describe, expect, it } from '@jest/globals';
import { GET, LARGE, serveConnections, SMALLER } from '../../test/support/connections-server.js';
import { until } from '../../test/support/until.js';

const MB = 1024 * 1024;

describe('a client', () => {
  it('is disconnected if it takes no byte of a response', async () => {
    const { dial, open, reasons } = await serveConnections((_request, response) => response.end(SMALLER));
    dial(GET).pause();
    await until(() => open.size === 1);
    await until(() => open.size === 0);
    expect(reasons()).toEqual(['closing a connection: the client reads no bytes of a response']);
  });

  it('gets everything if it reads slowly, or if its response takes long', async () => {
    const { dial, open } = await serveConnections((request, response) => {
      setTimeout(() => response.end(SMALLER), request.url === '/' ? 0 : 1000);
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
    await until(() => read.every((bytes) => bytes > SMALLER.length));
    expect(open.size).toBe(2);
  });

  it('is not slow before its first request or after its last', async () => {
    const { dial, begun, open } = await serveConnections((_request, response) => response.end());
    const kept = dial(GET).resume();
    dial('');
    await until(() => open.size === 2);
    // longer than it takes to disconnect a slow reader
    const late = Promise.withResolvers<void>();
    setTimeout(late.resolve, 1500);
    await late.promise;
    kept.write(GET);
    await until(() => begun.length === 2);
    expect(open.size).toBe(2);
  });

  it('is disconnected if the most bytes wait for it and too many wait in total', async () => {
    const { dial, open, reasons } = await serveConnections(
      (request, response) => response.end(request.url === '/' ? LARGE : SMALLER),
      { waitingBytes: 8 * MB },
    );
    dial(GET.replace('/', '/small')).pause();
    await until(() => open.size === 1);
    dial(GET).pause();
    await until(() => reasons().length === 1);
    expect(reasons()[0]).toContain('too many response bytes');
    await until(() => open.size === 1);
  });
});
