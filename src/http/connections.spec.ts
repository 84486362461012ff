import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { GET, serveConnections, SMALLER } from '../../test/support/connections-server.js';
import { until } from '../../test/support/until.js';

describe('a connection', () => {
  it('is closed with too many unanswered requests, and later ones are not started', async () => {
    const { begun, left, dial, reasons } = await serveConnections(() => undefined);
    await once(dial(GET.repeat(1000)), 'close');
    await until(() => left.length === 3);
    expect(begun).toHaveLength(3);
    expect(reasons()).toEqual(['closing a connection: it has more than 3 unanswered requests']);
  });

  it('the negative case: serves the same requests one after the other, or as many as are allowed', async () => {
    const waiting: ServerResponse[] = [];
    const { begun, dial, open } = await serveConnections((_request, response) => waiting.push(response));
    const socket = dial('').resume();
    for (let round = 1; round <= 4; round++) {
      socket.write(GET.repeat(3));
      await until(() => begun.length === 3 * round);
      for (const response of waiting.splice(0)) response.end();
      await until(() => [...open].every((each) => each.writableLength === 0));
    }
    expect(open.size).toBe(1);
  });

  it('keeps no response, request or body while idle', async () => {
    const { connections, dial, begun } = await serveConnections((_request, response) => response.end('x'));
    dial(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab`).resume();
    await until(() => begun.length === 1);
    await until(() => [...connections.all()].every(([, unanswered]) => unanswered.length === 0));
    const [[socket] = []] = [...connections.all()];
    if (!socket) throw new Error('no connection is open');
    await until(() => !connections.awaitsBody(socket));
  });
});

describe('the end of all connections', () => {
  it('closes idle and silent ones, and waits for responses until the grace period is over', async () => {
    const { connections, server, begun, dial, open } = await serveConnections((request, response) => {
      if (request.url === '/now') response.end();
    });
    const [silent, idle, waiting] = [dial(''), dial(GET.replace('/', '/now')), dial(GET)];
    await until(() => open.size === 3 && begun.length === 2);
    await once(idle, 'data');
    const drained = connections.drain(server, 1000);
    await Promise.all([once(silent.resume(), 'close'), once(idle.resume(), 'close')]);
    await until(() => open.size === 1);
    await drained;
    await once(waiting.resume(), 'close');
  });

  it('sends a completed response in full, and waits for its reader', async () => {
    const { connections, server, dial, begun } = await serveConnections((_request, response) => response.end(SMALLER));
    const socket = dial(GET).pause();
    const closed = once(socket, 'close');
    await until(() => begun.length === 1);
    const drained = connections.drain(server, 60_000);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => void (bytes += chunk.length)).resume();
    await Promise.all([drained, closed]);
    expect(bytes).toBeGreaterThan(SMALLER.length);
  });
});
