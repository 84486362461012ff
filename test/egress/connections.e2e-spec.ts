import { describe, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createAuthority } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { type Connect, ROUTES, startRoute } from '../support/connect-proxy.js';
import { accountsAt, agentOf, createEgress, expectSocketsLeft, identityFor, openSockets } from '../support/egress.js';
import { type Handler, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { startRawServer, startTlsServer } from '../support/servers.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

describe('kept connections', () => {
  test.each(ROUTES)('%s: one connection serves sequential calls, six serve 40 concurrent ones', async (route) => {
    const { proxy, settings } = await startRoute(route);
    const seen = new Set<unknown>();
    bank.onAccounts = (request, response, url) => {
      seen.add(request.socket);
      listAccounts([])(request, response, url);
    };
    const egress = createEgress(identityFor(bank), settings);
    for (let call = 0; call < 5; call += 1) await egress.get(accountsAt(bank.url));
    expect(seen.size).toBe(1);
    await Promise.all(Array.from({ length: 40 }, () => egress.get(accountsAt(bank.url))));
    expect(seen.size).toBeLessThanOrEqual(6);
    if (route !== 'direct') expect(proxy.heads.length).toBe(seen.size);
  });

  test.each([
    ['direct', 'TLSv1.3'],
    ['http proxy', 'TLSv1.2'],
    ['https proxy', 'TLSv1.3'],
  ] as const)('%s, %s: a new connection resumes the session of an earlier one', async (route, version) => {
    const versioned = await startPretendBank({ server: { minVersion: version, maxVersion: version } });
    const resumed: boolean[] = [];
    versioned.onAccounts = (request, response, url) => {
      const socket = request.socket as TLSSocket;
      expect(socket.getProtocol()).toBe(version);
      resumed.push(socket.isSessionReused());
      response.setHeader('connection', 'close');
      listAccounts([])(request, response, url);
    };
    const { settings } = await startRoute(route);
    const egress = createEgress(identityFor(versioned), settings);
    for (let call = 0; call < 4; call += 1) await egress.get(accountsAt(versioned.url));
    expect(resumed).toEqual([false, true, true, true]);
    // a resumed session still contains our certificate
    expect(versioned.requests.every(({ thumbprint }) => thumbprint !== null)).toBe(true);
    await versioned.close();
  });

  test.each([true, false])(
    'a call replaces dead connections that were kept alive (all at once: %s)',
    async (together) => {
      const { settings } = await startRoute('http proxy');
      const egress = createEgress(identityFor(bank), settings);
      const gathered: (() => void)[] = [];
      bank.onAccounts = (...args) => {
        gathered.push(() => listAccounts([])(...args));
        if (gathered.length === 5) for (const answer of gathered) answer();
      };
      await Promise.all([1, 2, 3, 4, 5].map(() => egress.get(accountsAt(bank.url))));
      const old = new Set(bank.sockets);
      expect(old.size).toBe(5);

      // the bank drops each connection when it is used again, so that none is known to be dead beforehand
      let dropped = 0;
      bank.onAccounts = (request, response, url) => {
        const raw = [...old].find((socket) => socket.remotePort === request.socket.remotePort);
        if (!raw) return listAccounts([])(request, response, url);
        dropped += 1;
        request.socket.destroy();
      };
      const calls = together ? [1, 2, 3, 4, 5] : [1];
      const answers = await Promise.all(calls.map(() => egress.get(accountsAt(bank.url))));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      if (together) expect(dropped).toBeGreaterThan(0);
      // after one failure, the others are not tried
      else expect(dropped).toBe(1);
      await until(() => [...old].every((socket) => socket.destroyed));
    },
  );

  test('a call is retried over a fresh connection, and once more when that one dies', async () => {
    const authority = createAuthority('Bank CA');
    let asked = 0;
    const server = await startTlsServer({ ...authority.server(['localhost']) }, (socket) => {
      socket.on('data', () => {
        asked += 1;
        // the first call succeeds, so the connection is kept; then every connection dies when used
        if (asked === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
        else socket.destroy();
      });
    });
    const egress = createEgress({ ...identityFor(bank), ca: authority.pem });
    const url = `https://localhost:${server.port}`;
    await egress.get(accountsAt(url));
    await expect(egress.get(accountsAt(url))).rejects.toMatchObject({ code: 'bank-unreachable' });
    // once over the kept connection, then over two fresh ones
    expect(asked).toBe(4);
  });

  test('an idle connection is closed after its timeout', async () => {
    const egress = createEgress(identityFor(bank), (await startRoute('http proxy')).settings);
    const { options } = await agentOf(egress, bank.url);
    expect(options.timeout).toBe(30_000);
    options.timeout = 100;
    await egress.get(accountsAt(bank.url));
    expect(bank.sockets.size).toBe(1);
    await until(() => bank.sockets.size === 0);
    // a long call does not count as idle
    bank.onAccounts = (...args) => setTimeout(() => listAccounts([])(...args), 300);
    expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
  });
});

describe('the clock of this machine', () => {
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000).toUTCString();
  test.each([
    ['the Date of the answer', 90, '', -92, -89],
    ['the Date and the Age of a cached answer', 240, '240', -2, 0],
    ['a bank that is ahead', -90, '', 88, 91],
  ])('is compared with %s', async (_what, agoSeconds, age, least, most) => {
    bank.onAccounts = (_request, response) =>
      void response.writeHead(200, { date: secondsAgo(agoSeconds), ...(age && { age }) }).end('{}');
    const egress = createEgress(identityFor(bank));
    await egress.get(accountsAt(bank.url));
    const seconds = Number(egress.clockSkewMs) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(least);
    expect(seconds).toBeLessThanOrEqual(most);
  });
});

describe('a retired egress', () => {
  test.each(ROUTES)('%s: idle connections close at once, calls in flight complete', async (route) => {
    const { settings } = await startRoute(route);
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { ...settings, BANK_MAX_CONCURRENT_REQUESTS: 4 });
    await Promise.all([1, 2, 3, 4].map(() => egress.get(accountsAt(bank.url))));
    expect(bank.sockets.size).toBe(4);

    const held: (() => void)[] = [];
    bank.onAccounts = (...args) => held.push(() => listAccounts([])(...args));
    // four in flight, two of them waiting for a slot
    const calls = [1, 2].map(() => egress.get(accountsAt(bank.url)));
    await until(() => held.length === 2);
    egress.retire();
    const kept = Object.values((await agentOf(egress, bank.url)).freeSockets).flat();
    expect(kept.filter((socket) => !socket?.destroyed)).toEqual([]);
    await until(() => bank.sockets.size === 2);
    // a later call is still served, and leaves no connection behind
    const late = egress.get(accountsAt(bank.url));
    await until(() => held.length === 3);
    for (const answer of held) answer();
    const answers = await Promise.all([...calls, late]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await expectSocketsLeft(before);
    await until(() => bank.sockets.size === 0);
  });
});

describe('the concurrency of calls', () => {
  test('is limited to the allowed number of calls in flight, and all calls complete', async () => {
    let now = 0;
    let most = 0;
    bank.onAccounts = (...args) => {
      most = Math.max(most, (now += 1));
      setTimeout(() => {
        now -= 1;
        listAccounts([])(...args);
      }, 5);
    };
    const egress = createEgress(identityFor(bank), { BANK_MAX_CONCURRENT_REQUESTS: 3 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => egress.get(accountsAt(bank.url))));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(most).toBe(3);
  });

  test('does not count a call that was aborted while it waited for a slot', async () => {
    const held: (() => void)[] = [];
    bank.onAccounts = (...args) => held.push(() => listAccounts([])(...args));
    const egress = createEgress(identityFor(bank), { BANK_MAX_CONCURRENT_REQUESTS: 1 });
    const first = egress.get(accountsAt(bank.url));
    await until(() => held.length === 1);
    const asked = bank.requests.length;
    const reason = new Error('gone');
    const controller = new AbortController();
    const waiting = Array.from({ length: 50 }, async () => {
      await expect(egress.get(accountsAt(bank.url, { signal: controller.signal }))).rejects.toBe(reason);
    });
    const last = egress.get(accountsAt(bank.url));
    controller.abort(reason);
    // the first call still has the slot
    await Promise.all(waiting);
    await expect(egress.get(accountsAt(bank.url, { signal: controller.signal }))).rejects.toBe(reason);
    held.shift()?.();
    await first;
    await until(() => held.length === 1);
    held.shift()?.();
    expect((await last).status).toBe(200);
    expect(bank.requests.length).toBe(asked + 1);
  });
});

const GONE = new Error('the caller has gone');
const CALLS = 12;

/** Makes many calls, aborted after `afterMs` (null: in the same tick). All must end at once with the reason. */
async function giveUp(egress: ReturnType<typeof createEgress>, url: string, afterMs: number | null): Promise<void> {
  const controllers = Array.from({ length: CALLS }, () => new AbortController());
  const calls = controllers.map(async ({ signal }) => {
    await expect(egress.get(accountsAt(url, { signal }))).rejects.toBe(GONE);
  });
  if (afterMs !== null) await delay(afterMs);
  for (const controller of controllers) controller.abort(GONE);
  await Promise.all(calls);
}

type Moment = [
  string,
  Exclude<(typeof ROUTES)[number], 'direct'>,
  ((connect: Connect) => void) | undefined,
  number | null,
];

describe('an aborted call', () => {
  test.each<Moment>([
    ['in the tick it began', 'http proxy', undefined, null],
    ['while the proxy is silent', 'https proxy', () => undefined, 80],
    ['while half an answer is there', 'http proxy', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n'), 80],
    ['while TLS in the tunnel is silent', 'http proxy', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 80],
    [
      'just as the tunnel stands',
      'https proxy',
      ({ socket }) => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 80),
      80,
    ],
    ['while the bank is silent', 'http proxy', undefined, 150],
  ])('%s, through an %s, ends with its reason and leaves no connection', async (_moment, route, onConnect, afterMs) => {
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
    await until(() => proxy.sockets.size === 0);
  });
});

describe('an aborted direct call', () => {
  const silent: Handler = () => undefined;
  const beginning: Handler = (_request, response) => response.writeHead(200, { 'content-length': 100 }).write('[');

  test.each([
    ['in the tick it began', silent, null],
    ['while the body comes', beginning, 150],
  ])('%s ends with its reason, and leaves no connection', async (_name, onAccounts, afterMs) => {
    bank.onAccounts = onAccounts;
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { BANK_MAX_CONCURRENT_REQUESTS: CALLS });
    await giveUp(egress, bank.url, afterMs);
    await expectSocketsLeft(before);
  });

  // there are some microtasks between the header and the body's reader
  test.each([0, 1, 2, 3, 4, 5, 6, 8])(
    '%i microtasks after the header ends with its reason, without an uncaught error',
    async (count) => {
      bank.onAccounts = beginning;
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
    },
  );

  test('while TLS is silent ends with its reason, and leaves no connection', async () => {
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

test.each(ROUTES)('%s: an aborted call does not affect others', async (route) => {
  const { settings } = await startRoute(route);
  const egress = createEgress(identityFor(bank), settings);
  const gone = new AbortController();
  await egress.get(accountsAt(bank.url, { signal: gone.signal }));
  const { promise, resolve } = Promise.withResolvers<void>();
  bank.onAccounts = (...args) => setTimeout(() => listAccounts([])(...args), 100).unref() && resolve();
  const next = egress.get(accountsAt(bank.url));
  await promise;
  // the signal of the call that opened the connection, which another call now uses
  gone.abort(GONE);
  expect((await next).status).toBe(200);
  expect(bank.sockets.size).toBe(1);
});
