import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { listAccounts } from '../support/pretend-bank.js';
import { ROUTES, startRoute, type Connect } from '../support/connect-proxy.js';
import { accountsAt, createEgress, identityFor, openSockets, expectSocketsLeft } from '../support/egress.js';
import { startRawServer } from '../support/servers.js';

const bank = await bankForFile();

const GONE = new Error('the caller has gone');
const CALLS = 12;

/** Many calls, given up `afterMs` after they began (null: in the same tick); all must end at once, with the reason. */
async function giveUp(egress: ReturnType<typeof createEgress>, url: string, afterMs: number | null): Promise<void> {
  const controllers = Array.from({ length: CALLS }, () => new AbortController());
  const calls = controllers.map(async ({ signal }) => {
    await expect(egress.get(accountsAt(url, { signal }))).rejects.toBe(GONE);
  });
  if (afterMs !== null) await delay(afterMs);
  const started = performance.now();
  for (const controller of controllers) controller.abort(GONE);
  await Promise.all(calls);
  expect(performance.now() - started).toBeLessThan(2000);
}

const MOMENTS: readonly (readonly [string, ((connect: Connect) => void) | undefined, number | null])[] = [
  ['in the tick it began', undefined, null],
  ['while the proxy is silent', () => undefined, 80],
  ['while half an answer is there', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n'), 80],
  ['while TLS in the tunnel is silent', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 80],
  ['just as the tunnel stands', ({ socket }) => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 80), 80],
  ['while the bank is silent', undefined, 150],
];

describe.each(['http proxy', 'https proxy'] as const)('over an %s a call given up', (route) => {
  test.each(MOMENTS)('%s', async (_name, onConnect, afterMs) => {
    bank.onAccounts = () => undefined;
    const { proxy, settings } = await startRoute(route, { ...(onConnect && { onConnect }) });
    const before = openSockets();
    const egress = createEgress(identityFor(bank), {
      ...settings,
      BANK_CONNECT_TIMEOUT_MS: 60_000,
      BANK_REQUEST_TIMEOUT_MS: 60_000,
      BANK_MAX_CONCURRENT_REQUESTS: CALLS,
    });
    await giveUp(egress, bank.url, afterMs);
    await expectSocketsLeft(before);
    expect(proxy.sockets.size).toBe(0);
  });
});

describe('directly a call given up', () => {
  test.each([
    ['in the tick it began', null],
    ['while the bank is silent', 150],
  ])('%s', async (_name, afterMs) => {
    bank.onAccounts = () => undefined;
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { BANK_MAX_CONCURRENT_REQUESTS: CALLS });
    await giveUp(egress, bank.url, afterMs);
    await expectSocketsLeft(before);
  });

  test('while the body comes', async () => {
    bank.onAccounts = (_request, response) => response.writeHead(200, { 'content-length': 100 }).write('[');
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { BANK_MAX_CONCURRENT_REQUESTS: CALLS });
    await giveUp(egress, bank.url, 150);
    await expectSocketsLeft(before);
  });

  // between the head and the one who gathers the body lie some microtasks
  test.each([0, 1, 2, 3, 4, 5, 6, 8])('%i microtasks after the head', async (count) => {
    bank.onAccounts = (_request, response) => response.writeHead(200, { 'content-length': 100 }).write('[');
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on('uncaughtException', note);
    const before = openSockets();
    const egress = createEgress(identityFor(bank));
    const controller = new AbortController();
    const abort = async () => {
      for (let waited = 0; waited < count; waited++) await Promise.resolve();
      controller.abort(GONE);
    };
    subscribe('http.client.response.finish', abort);
    await expect(egress.get(accountsAt(bank.url, { signal: controller.signal }))).rejects.toBe(GONE);
    await expectSocketsLeft(before);
    unsubscribe('http.client.response.finish', abort);
    process.off('uncaughtException', note);
    expect(uncaught).toEqual([]);
  });

  test('while TLS is silent', async () => {
    const mute = await startRawServer();
    const before = openSockets();
    const egress = createEgress(identityFor(bank), {
      BANK_MAX_CONCURRENT_REQUESTS: CALLS,
      BANK_CONNECT_TIMEOUT_MS: 60_000,
    });
    await giveUp(egress, `https://127.0.0.1:${mute.port}`, 80);
    await expectSocketsLeft(before);
  });
});

test.each(ROUTES)('%s: a call that was given up takes no other with it', async (route) => {
  const { settings } = await startRoute(route);
  const egress = createEgress(identityFor(bank), settings);
  const gone = new AbortController();
  await egress.get(accountsAt(bank.url, { signal: gone.signal }));
  const { promise, resolve } = Promise.withResolvers<void>();
  bank.onAccounts = (...args) => setTimeout(() => listAccounts([])(...args), 100).unref() && resolve();
  const next = egress.get(accountsAt(bank.url));
  await promise;
  // the signal of the call that opened the connection, which another uses now
  gone.abort(GONE);
  expect((await next).status).toBe(200);
  expect(bank.sockets.size).toBe(1);
});
