import { createServer, connect, type AddressInfo, type Server } from 'node:net';
import dns from 'node:dns';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { onClose } from '../support/closing.js';
import { ROUTES, startRoute } from '../support/connect-proxy.js';
import { accountsAt, createEgress, identityFor } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, listAccounts } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';
import { startRawServer } from '../support/servers.js';

// Connections, tunnels and sessions are kept for a limited time, and not for a retry (docs/calling-the-bank.md#connections).

const bank = await bankForFile();
const bankPort = Number(new URL(bank.url).port);

/** Forwards to the bank. Counts its connections. */
async function startSite(
  port: number,
  host: string,
): Promise<{ readonly port: number; readonly accepted: () => number }> {
  let accepted = 0;
  const server: Server = createServer((socket) => {
    accepted += 1;
    const way = connect(bankPort, '127.0.0.1');
    way.on('error', () => socket.destroy());
    socket.on('error', () => way.destroy());
    socket.pipe(way).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onClose(async () => void server.close());
  return { port: (server.address() as AddressInfo).port, accepted: () => accepted };
}

test.each(ROUTES)('%s: a connection is not reused 60 s after it was opened, however busy it is', async (route) => {
  const clock = new MovedClock();
  const { settings } = await startRoute(route);
  const egress = createEgress(identityFor(bank), settings, [], undefined, clock);
  const seen = new Set<unknown>();
  bank.onAccounts = (request, response, url) => {
    seen.add(request.socket);
    listAccounts([])(request, response, url);
  };
  const perCall: number[] = [];
  for (let call = 0; call < 8; call += 1) {
    await egress.get(accountsAt(bank.url));
    perCall.push(seen.size);
    clock.advance(20_000);
  }
  expect(perCall).toEqual([1, 1, 1, 2, 2, 2, 3, 3]);
});

test('a call over a connection that becomes too old completes', async () => {
  const clock = new MovedClock();
  const egress = createEgress(identityFor(bank), (await startRoute('http proxy')).settings, [], undefined, clock);
  bank.onAccounts = (...args) => {
    clock.advance(70_000);
    listAccounts([])(...args);
  };
  for (let call = 0; call < 2; call += 1) expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
});

describe('a bank that moves', () => {
  afterEach(() => void jest.restoreAllMocks());

  test('is followed, although its old site goes on answering', async () => {
    const old = await startSite(0, '127.0.0.2');
    const site = await startSite(old.port, '127.0.0.3');
    let address = '127.0.0.2';
    const real = dns.lookup;
    const lookup = (
      name: string,
      options: dns.LookupOptions,
      done: (error: null, found: dns.LookupAddress[]) => void,
    ) => (name === 'localhost' ? done(null, [{ address, family: 4 }]) : real(name, options, done as never));
    jest.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
    const clock = new MovedClock();
    const egress = createEgress(identityFor(bank), {}, [], undefined, clock);
    const call = () => egress.get(accountsAt(`https://localhost:${old.port}`));
    await call();
    address = '127.0.0.3';
    clock.advance(59_000);
    await call();
    expect([old.accepted(), site.accepted()]).toEqual([1, 0]);
    clock.advance(1000);
    await call();
    expect([old.accepted(), site.accepted()]).toEqual([1, 1]);
  });
});

/** A layer-4 load balancer: its connections go in turn to three servers, the first of which is sick. */
async function startBalancer(status: number): Promise<{ readonly url: string; readonly answers: number[] }> {
  const answers: number[] = [];
  /** The ports from which connections to the sick server come. */
  const sick = new Set<number | undefined>();
  let connections = 0;
  const balancer = await startRawServer((socket) => {
    const isSick = connections % 3 === 0;
    connections += 1;
    const way = connect(bankPort, '127.0.0.1', () => {
      if (isSick) sick.add(way.localPort);
      socket.pipe(way).pipe(socket);
    });
    way.on('error', () => socket.destroy());
    socket.on('close', () => way.destroy());
  });
  bank.onAccounts = (request, response, url) => {
    const isSick = sick.has(request.socket.remotePort);
    answers.push(isSick ? status : 200);
    if (isSick) json(response, status, {});
    else listAccounts([sampleAccount(1)])(request, response, url);
  };
  return { url: `https://localhost:${balancer.port}`, answers };
}

describe('a load balancer in front of one sick server of three', () => {
  test.each([
    ['direct', 502],
    ['http proxy', 503],
    ['direct', 504],
  ] as const)('%s: after a %i, the retry meets another server', async (route, status) => {
    const { url, answers } = await startBalancer(status);
    const { settings } = await startRoute(route);
    const proxy = settings.EGRESS_PROXY_URL ? { EGRESS_PROXY_URL: settings.EGRESS_PROXY_URL.href } : {};
    const authUrl = bank.url;
    const gateway = await startGateway({ ...bank, url, authUrl }, { ...proxy, SNAPSHOT_FRESH_MS: '0' });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(answers).toEqual([status, 200]);
    // the healthy server's connection is kept
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(answers).toEqual([status, 200, 200]);
  });

  test('after a 500, which is not retried, the next call meets another server', async () => {
    const { url, answers } = await startBalancer(500);
    const egress = createEgress(identityFor(bank), (await startRoute('http proxy')).settings);
    for (let call = 0; call < 2; call += 1) await egress.get(accountsAt(url));
    expect(answers).toEqual([500, 200]);
  });
});
