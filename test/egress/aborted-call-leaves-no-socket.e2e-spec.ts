import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { closePretendBanks, listAccounts, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import {
  accountsAt,
  closeProxies,
  createAuthority,
  createEgress,
  identityFor,
  openSockets,
  socketsLeft,
  startConnectProxy,
  startRawServer,
  type Connect,
} from '../support/proxies.js';

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
});
afterEach(async () => {
  await closeProxies();
  bank.onAccounts = listAccounts([]);
});
afterAll(closePretendBanks);

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
  ['as the connection begins', undefined, 0],
  ['while the proxy is silent', () => undefined, 80],
  ['while half an answer is there', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n'), 80],
  ['while TLS in the tunnel is silent', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 80],
  ['just as the tunnel stands', ({ socket }) => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 80), 80],
  ['while the bank is silent', undefined, 150],
];

describe.each(['http', 'https'] as const)('over an %s proxy a call given up', (kind) => {
  test.each(MOMENTS)('%s', async (_name, onConnect, afterMs) => {
    bank.onAccounts = () => undefined;
    const authority = await createAuthority('Proxy CA');
    const proxy = await startConnectProxy({
      ...(onConnect && { onConnect }),
      ...(kind === 'https' && { tls: authority.server(['localhost']) }),
    });
    const before = openSockets();
    const egress = createEgress(identityFor(bank), {
      proxy: proxy.url,
      proxyCaFile: kind === 'https' ? authority.file : null,
      connectTimeoutMs: 60_000,
      requestTimeoutMs: 60_000,
      maxConcurrentRequests: CALLS,
    });
    await giveUp(egress, bank.url, afterMs);
    expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
    expect(proxy.sockets.size).toBe(0);
  });
});

describe('directly a call given up', () => {
  test.each([
    ['in the tick it began', null],
    ['as the connection begins', 0],
    ['while the bank is silent', 150],
  ])('%s', async (_name, afterMs) => {
    bank.onAccounts = () => undefined;
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { maxConcurrentRequests: CALLS });
    await giveUp(egress, bank.url, afterMs);
    expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
  });

  test('while TLS is silent', async () => {
    const mute = await startRawServer();
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { maxConcurrentRequests: CALLS, connectTimeoutMs: 60_000 });
    await giveUp(egress, `https://127.0.0.1:${mute.port}`, 80);
    expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
  });
});

test.each(['direct', 'proxy'])('%s: a call that was given up takes no other with it', async (route) => {
  const proxy = await startConnectProxy();
  const egress = createEgress(identityFor(bank), { proxy: route === 'proxy' ? proxy.url : null });
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
