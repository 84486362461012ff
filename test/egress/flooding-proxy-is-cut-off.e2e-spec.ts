import { expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { startRoute, type Connect, startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor, openSockets, socketsLeft } from '../support/egress.js';

const bank = await bankForFile();

const LINES = Buffer.from('X-Flood: 0123456789abcdef0123456789abcdef\r\n'.repeat(1500));
const ONE_LINE = Buffer.alloc(65_536, 'x');

/** As fast as it goes, without an end. */
function flood({ socket }: Connect, block: Buffer): void {
  const pour = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', pour);
  socket.write('HTTP/1.1 200 OK\r\nX: ');
  pour();
}

test.each([
  ['http proxy', 'header lines', LINES],
  ['http proxy', 'one line', ONE_LINE],
  ['https proxy', 'header lines', LINES],
  ['https proxy', 'one line', ONE_LINE],
] as const)('an %s that floods %s', async (route, _what, block) => {
  const { settings } = await startRoute(route, { onConnect: (connect) => flood(connect, block) });
  const before = openSockets();
  const egress = createEgress(identityFor(bank), { ...settings, BANK_CONNECT_TIMEOUT_MS: 3000 });
  const memory = process.memoryUsage().rss;
  const failure = await failureOf(egress.get(accountsAt(bank.url)));
  const grown = process.memoryUsage().rss - memory;
  expect(failure).toMatchObject({ code: 'proxy-refused' });
  expect(failure.ms).toBeLessThan(2000);
  expect(grown).toBeLessThan(48 * 2 ** 20);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test('one byte at a time ends with the deadline', async () => {
  const proxy = await startConnectProxy({
    onConnect: ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      const timer = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(timer));
    },
  });
  const before = openSockets();
  const egress = createEgress(identityFor(bank), { EGRESS_PROXY_URL: proxy.url, BANK_CONNECT_TIMEOUT_MS: 500 });
  const failure = await failureOf(egress.get(accountsAt(bank.url)));
  expect(failure).toMatchObject({ code: 'proxy-unavailable' });
  expect(failure.ms).toBeLessThan(2000);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});
