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

  it('gets everything if it takes some bytes between two looks', async () => {
    const body = Buffer.alloc(32 * MB);
    const limits = { stallLookMs: 100, stalledLooks: 5 };
    const { dial, open, server } = await serveConnections((_request, response) => response.end(body), limits);
    let [looks, read, allowed] = [0, 0, 0];
    const socket = dial(GET).on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > allowed) socket.pause();
    });
    server.on('timeout', () => {
      looks += 1;
      allowed = looks < 12 ? read + MB : Infinity;
      socket.resume();
    });
    await until(() => read > body.length);
    expect(looks).toBeGreaterThan(limits.stalledLooks);
    expect(open.size).toBe(1);
  });

  it('gets everything if its response takes longer than a client may take no byte', async () => {
    const { dial, open, server } = await serveConnections(
      (_request, response) => {
        let looks = 0;
        server.on('timeout', () => {
          looks += 1;
          if (looks === 5) response.end(SMALLER);
        });
      },
      { stallLookMs: 100 },
    );
    let read = 0;
    dial(GET).on('data', (chunk: Buffer) => (read += chunk.length));
    await until(() => read > SMALLER.length);
    expect(open.size).toBe(1);
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
