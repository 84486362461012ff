import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { FakeClock } from '../../test/support/fake-clock.js';
import { onClose, temporaryDirectory } from '../../test/support/closing.js';
import { startRawServer } from '../../test/support/servers.js';
import { until } from '../../test/support/until.js';
import { RedisConnection } from './redis-connection.js';

/** A server with this handler of received commands. Returns its address. */
async function startServer(onData: (socket: Socket, data: string) => void): Promise<string> {
  const { port } = await startRawServer((socket) =>
    socket.on('data', (data: Buffer) => onData(socket, data.toString('latin1'))),
  );
  return `redis://127.0.0.1:${port}`;
}

/** A connection after its first attempt. */
async function connectTo(url: string, { ca, waitMs }: { ca?: string; waitMs?: number } = {}) {
  const settings = { REDIS_URL: { file: null, read: () => url }, REDIS_CA_FILE: ca, REDIS_KEY_PREFIX: 'test:' };
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), new FakeClock(Date.now()), waitMs);
  onClose(() => connection.close());
  await connection.connect();
  return connection;
}

it('a REDIS_CA_FILE that became too large at run time is not read, and the connection is retried', async () => {
  const ca = join(temporaryDirectory(), 'ca.pem');
  writeFileSync(ca, Buffer.alloc(1_048_577));
  // nothing listens on port 1
  const connection = await connectTo('rediss://127.0.0.1:1', { ca });
  expect(connection.trouble).toBe('REDIS_URL_FILE or REDIS_CA_FILE cannot be used (FileUnusable)');
});

/** Begins a reply, and continues it as long as the connection lives. */
function endless(socket: Socket): void {
  socket.write('$99999999999\r\n');
  const timer = setInterval(() => socket.write('x'), 100);
  socket.once('close', () => clearInterval(timer));
}

it('an endless reply on an idle connection closes the connection', async () => {
  let ended = false;
  const url = await startServer((socket, data) => {
    socket.once('close', () => (ended = true));
    for (const [, name] of data.matchAll(/^(HELLO|TIME|SET|GET|STRLEN|GETRANGE|EVAL|DEL|PING)\r$/gm)) {
      if (name === 'HELLO') socket.write('*0\r\n');
      else if (name === 'TIME') socket.write(`*2\r\n:${Math.floor(Date.now() / 1000)}\r\n:0\r\n`);
      else socket.write('+OK\r\n');
      if (name === 'DEL') setTimeout(() => endless(socket), 100);
    }
  });
  const connection = await connectTo(url);
  // a busy machine may need several attempts
  await until(() => connection.trouble === null);
  ended = false;
  await until(() => ended);
  expect(connection.trouble).toMatch(/^it did not answer in time: .*50 ms \(timeout\)$/);
});

it.each([
  ['a big number of 500 000 digits to every command', `(${'7'.repeat(500_000)}\r\n`, /makes no sense/],
  ['what a Sentinel says', '*2\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n', /leads to a Sentinel/],
])('a server that replies %s cannot be used', async (_name, reply, trouble) => {
  const url = await startServer((socket, data) => {
    for (const _command of data.matchAll(/^\*\d+\r$/gm)) socket.write(reply);
  });
  // a limit that only a stalled thread reaches
  expect((await connectTo(url, { waitMs: 2000 })).trouble).toMatch(trouble);
});

it('a server that is not Redis is reported as such', async () => {
  const connection = await connectTo(await startServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')));
  expect(connection.trouble).toBe('its reply makes no sense: the server may not be Redis (nonsense)');
});
