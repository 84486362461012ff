import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { FakeClock } from '../../test/support/fake-clock.js';
import { onClose } from '../../test/support/closing.js';
import { until } from '../../test/support/until.js';
import { RedisConnection } from './redis-connection.js';

const directory = mkdtempSync(join(tmpdir(), 'redis-connection-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('a REDIS_CA_FILE that became too large at run time is not read, and the connection is retried', async () => {
  const path = join(directory, 'ca.pem');
  writeFileSync(path, Buffer.alloc(1_048_577));
  // nothing listens on port 1
  const url = { file: null, read: () => 'rediss://127.0.0.1:1' };
  const settings = { REDIS_URL: url, REDIS_CA_FILE: path, REDIS_KEY_PREFIX: 'test:' };
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), new FakeClock());
  onClose(() => connection.close());
  await connection.connect();
  expect(connection.trouble).toBe('REDIS_URL_FILE or REDIS_CA_FILE cannot be read (FileUnusable)');
});

/** Begins a reply, and continues it as long as the connection lives. */
function endless(socket: Socket): void {
  socket.write('$99999999999\r\n');
  const timer = setInterval(() => socket.write('x'), 100);
  socket.once('close', () => clearInterval(timer));
}

it('an endless reply on an idle connection closes the connection', async () => {
  let ended = false;
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('close', () => (ended = true));
    socket.on('data', (data) => {
      for (const [, name] of data
        .toString('latin1')
        .matchAll(/^(HELLO|TIME|SET|GET|STRLEN|GETRANGE|EVAL|DEL|PING)\r$/gm)) {
        if (name === 'HELLO') socket.write('*0\r\n');
        else if (name === 'TIME') socket.write(`*2\r\n:${Math.floor(Date.now() / 1000)}\r\n:0\r\n`);
        else socket.write('+OK\r\n');
        if (name === 'DEL') setTimeout(() => endless(socket), 100);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = { file: null, read: () => `redis://127.0.0.1:${port}` };
  const settings = { REDIS_URL: url, REDIS_CA_FILE: undefined, REDIS_KEY_PREFIX: 'test:' };
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), new FakeClock(Date.now()));
  onClose(() => connection.close());
  await connection.connect();
  expect(connection.trouble).toBeNull();
  await until(() => ended);
  expect(connection.trouble).toMatch(/^it did not answer in time: .*50 ms \(timeout\)$/);
});

it.each([
  ['a big number of 500 000 digits to every command', () => `(${'7'.repeat(500_000)}\r\n`, /makes no sense/],
  ['what a Sentinel says', () => '*2\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n', /leads to a Sentinel/],
])('a server that replies %s cannot be used', async (_name, reply, trouble) => {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        for (const _command of data.toString('latin1').matchAll(/^\*\d+\r$/gm)) socket.write(reply());
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = { file: null, read: () => `redis://127.0.0.1:${port}` };
  const settings = { REDIS_URL: url, REDIS_CA_FILE: undefined, REDIS_KEY_PREFIX: 'test:' };
  // a limit that only a stalled thread reaches
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), new FakeClock(Date.now()), 2000);
  onClose(() => connection.close());
  await connection.connect();
  expect(connection.trouble).toMatch(trouble);
});

it('a server that is not Redis is reported as such', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = { file: null, read: () => `redis://127.0.0.1:${port}` };
  const settings = { REDIS_URL: url, REDIS_CA_FILE: undefined, REDIS_KEY_PREFIX: 'test:' };
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), new FakeClock());
  onClose(() => connection.close());
  await connection.connect();
  expect(connection.trouble).toBe('its reply makes no sense: the server may not be Redis (nonsense)');
});
