import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  accountsAt,
  closeProxies,
  createAuthority,
  createEgress,
  failureOf,
  openSockets,
  socketsLeft,
  startConnectProxy,
  startRawServer,
  type ClientIdentity,
} from '../support/proxies.js';

let identity: ClientIdentity;
beforeAll(async () => {
  const authority = await createAuthority('Bank CA');
  identity = { ...authority.client('a client'), ca: authority.pem };
});
afterEach(closeProxies);
afterAll(closeProxies);

const HTTP = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n';

test.each([
  ['plain HTTP', HTTP],
  ['noise', 'x'.repeat(64)],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['noise that looks like a record', Buffer.from([22, 3, 3, 0, 4, 9, 9, 9, 9]).toString('latin1')],
])('%s on the port', async (_name, text) => {
  const server = await startRawServer((socket) => socket.once('data', () => socket.end(text, 'latin1')));
  const before = openSockets();
  expect(await failureOf(createEgress(identity).get(accountsAt(`https://localhost:${server.port}`)))).toMatchObject({
    code: 'bank-unavailable',
    owner: 'network',
    detail: expect.stringContaining('TLS handshake'),
  });
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test('a closed port', async () => {
  const closed = await startRawServer();
  await closed.close();
  expect(await failureOf(createEgress(identity).get(accountsAt(`https://localhost:${closed.port}`)))).toMatchObject({
    code: 'bank-unavailable',
    detail: expect.stringContaining('ECONNREFUSED'),
  });
});

test('no DNS', async () => {
  expect(await failureOf(createEgress(identity).get(accountsAt('https://no-such-bank.invalid')))).toMatchObject({
    code: 'bank-unavailable',
    detail: expect.stringMatching(/could not be resolved/),
  });
});

test.each(['direct', 'proxy'])('%s: TCP without a TLS answer ends with the connect deadline', async (route) => {
  const mute = await startRawServer();
  const { url } = await startConnectProxy();
  const before = openSockets();
  const egress = createEgress(identity, { connectTimeoutMs: 400, proxy: route === 'proxy' ? url : null });
  const failure = await failureOf(egress.get(accountsAt(`https://localhost:${mute.port}`)));
  expect(failure).toMatchObject({ code: 'bank-timeout', status: 504, detail: expect.stringContaining('CONNECT') });
  expect(failure.ms).toBeGreaterThan(350);
  expect(failure.ms).toBeLessThan(2000);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

/** Listens, with the shortest queue there is; stopped, it accepts nothing. */
const LISTENS = `require('net').createServer().listen(0, '127.0.0.1', 1, function () { console.log(this.address().port) })`;

describe('a listener that never accepts', () => {
  const fillers: Socket[] = [];
  afterEach(() => fillers.splice(0).forEach((socket) => socket.destroy()));

  test('ends with the connect deadline', async () => {
    const child = spawn(process.execPath, ['-e', LISTENS], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const port = Number(line.toString());
      child.kill('SIGSTOP');
      for (let count = 0; count < 8; count += 1) fillers.push(connect(port, '127.0.0.1').on('error', () => undefined));
      await new Promise((resolve) => setTimeout(resolve, 100));
      // its queue is full: what comes now is dropped, as by a firewall
      expect(fillers.some((socket) => socket.connecting)).toBe(true);
      const before = openSockets();
      const egress = createEgress(identity, { connectTimeoutMs: 400 });
      const failure = await failureOf(egress.get(accountsAt(`https://127.0.0.1:${port}`)));
      expect(failure).toMatchObject({ code: 'bank-timeout' });
      expect(failure.ms).toBeLessThan(2000);
      expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
