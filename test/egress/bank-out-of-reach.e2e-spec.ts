import { beforeAll, expect, test } from '@jest/globals';
import { startDeafServer } from '../support/deaf-server.js';
import { closedPort } from '../support/servers.js';
import { createAuthority } from '../support/authority.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import {
  accountsAt,
  type ClientIdentity,
  createEgress,
  failureOf,
  openSockets,
  socketsLeft,
} from '../support/egress.js';
import { startRawServer } from '../support/servers.js';

let identity: ClientIdentity;
beforeAll(async () => {
  const authority = createAuthority('Bank CA');
  identity = { ...authority.client('a client'), ca: authority.pem };
});

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
    code: 'bank-unreachable',
    owner: 'network',
    detail: expect.stringContaining('TLS handshake'),
  });
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test('a closed port', async () => {
  expect(
    await failureOf(createEgress(identity).get(accountsAt(`https://localhost:${await closedPort()}`))),
  ).toMatchObject({
    code: 'bank-unreachable',
    detail: expect.stringContaining('ECONNREFUSED'),
  });
});

test('no DNS', async () => {
  expect(await failureOf(createEgress(identity).get(accountsAt('https://no-such-bank.invalid')))).toMatchObject({
    code: 'bank-unreachable',
    detail: expect.stringMatching(/could not be resolved/),
  });
});

test.each(['direct', 'proxy'])('%s: TCP without a TLS answer ends with the connect deadline', async (route) => {
  const mute = await startRawServer();
  const { url } = await startConnectProxy();
  const before = openSockets();
  const egress = createEgress(identity, {
    BANK_CONNECT_TIMEOUT_MS: 400,
    EGRESS_PROXY_URL: route === 'proxy' ? url : null,
  });
  const failure = await failureOf(egress.get(accountsAt(`https://localhost:${mute.port}`)));
  expect(failure).toMatchObject({ code: 'bank-timeout', status: 504, detail: expect.stringContaining('CONNECT') });
  expect(failure.ms).toBeGreaterThan(350);
  expect(failure.ms).toBeLessThan(2000);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test('a listener that never accepts, as where packets are dropped, ends with the connect deadline', async () => {
  const port = await startDeafServer();
  const before = openSockets();
  const egress = createEgress(identity, { BANK_CONNECT_TIMEOUT_MS: 400 });
  const failure = await failureOf(egress.get(accountsAt(`https://127.0.0.1:${port}`)));
  expect(failure).toMatchObject({ code: 'bank-timeout' });
  expect(failure.ms).toBeLessThan(2000);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});
