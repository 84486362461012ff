import dns from 'node:dns';
import { isIP } from 'node:net';
import { describe, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { lookups } from '../../src/egress/lookups.js';
import { Activity, type BankCallEnded } from '../../src/telemetry/activity.js';
import { createAuthority } from '../support/authority.js';
import { bankForFile } from '../support/bank-for-file.js';
import { startConnectProxy, startRoute } from '../support/connect-proxy.js';
import { startDeafServer } from '../support/deaf-server.js';
import {
  accountsAt,
  type ClientIdentity,
  createEgress,
  failureOf,
  identityFor,
  openSockets,
  expectSocketsLeft,
} from '../support/egress.js';
import { json, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { closedPort, startRawServer } from '../support/servers.js';

const bank = await bankForFile();

let identity: ClientIdentity;
beforeAll(async () => {
  const authority = createAuthority('Bank CA');
  identity = { ...authority.client('a client'), ca: authority.pem };
});

const HTTP = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n';

test.each([
  ['plain HTTP', HTTP, /does not speak TLS \(/],
  ['noise that looks like a record', Buffer.from([22, 3, 3, 0, 4, 9, 9, 9, 9]).toString('latin1'), /not valid TLS \(/],
])('%s on the port is bank-untrusted, with a reason in words', async (_name, text, detail) => {
  const server = await startRawServer((socket) => socket.once('data', () => socket.end(text, 'latin1')));
  expect(await failureOf(createEgress(identity).get(accountsAt(`https://localhost:${server.port}`)))).toMatchObject({
    code: 'bank-untrusted',
    owner: 'operator',
    detail: expect.stringMatching(detail),
  });
});

test.each([
  ['a closed port', async () => `https://localhost:${await closedPort()}`, /TCP.*ECONNREFUSED/],
  ['no DNS', () => 'https://no-such-bank.invalid', /DNS could not resolve/],
])('%s is bank-unreachable, with its reason', async (_name, url, detail) => {
  expect(await failureOf(createEgress(identity).get(accountsAt(await url())))).toMatchObject({
    code: 'bank-unreachable',
    detail: expect.stringMatching(detail),
  });
});

test.each(['direct', 'proxy'])('%s: TCP without a TLS handshake ends at the connect deadline', async (route) => {
  // the deadline passes once the bank has the ClientHello: on a slow machine, 400 ms may end before
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  let deadline = new AbortController();
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== 400) return timeout(ms);
    deadline = new AbortController();
    return deadline.signal;
  });
  const mute = await startRawServer((socket) => socket.once('data', () => deadline.abort()));
  const { url } = await startConnectProxy();
  const egress = createEgress(identity, {
    BANK_CONNECT_TIMEOUT_MS: 400,
    EGRESS_PROXY_URL: route === 'proxy' ? url : null,
  });
  const failure = await failureOf(egress.get(accountsAt(`https://localhost:${mute.port}`)));
  jest.restoreAllMocks();
  expect(failure).toMatchObject({ code: 'bank-timeout', status: 504, detail: expect.stringContaining('CONNECT') });
});

test('a listener that never accepts, like dropped packets, ends at the connect deadline', async () => {
  const port = await startDeafServer();
  const egress = createEgress(identity, { BANK_CONNECT_TIMEOUT_MS: 400 });
  expect(await failureOf(egress.get(accountsAt(`https://127.0.0.1:${port}`)))).toMatchObject({
    code: 'bank-unreachable',
    owner: 'network',
    detail: expect.stringMatching(/^No TCP connection .*firewall/),
  });
});

describe('source address and DNS', () => {
  afterEach(() => void jest.restoreAllMocks());

  interface Address {
    readonly address: string;
    readonly family: 4 | 6;
  }
  type Answer = (error: NodeJS.ErrnoException | null, address: string | dns.LookupAddress[], family?: number) => void;

  /**
   * Resolves names to these addresses in this order after `afterMs`. Like getaddrinfo, returns only the requested
   * family.
   */
  function resolveTo(addresses: readonly Address[], afterMs = 0): void {
    const real = dns.lookup;
    const lookup = (name: string, options: dns.LookupOptions, answer: Answer) => {
      if (isIP(name)) return real(name, options, answer);
      const found = addresses.filter(({ family }) => !options.family || family === options.family);
      const [first] = found;
      setTimeout(() => {
        if (!first) answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
        else if (options.all) answer(null, found);
        else answer(null, first.address, first.family);
      }, afterMs);
    };
    jest.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
  }

  const V4 = { address: '127.0.0.1', family: 4 } as const;
  const DEAD_V6 = { address: '::1', family: 6 } as const;

  function withName(url: string): string {
    return url.replace('127.0.0.1', 'localhost');
  }

  /** The source addresses of calls. */
  function seenFrom(): string[] {
    const from: string[] = [];
    bank.onAccounts = (request, response, url) => {
      from.push(request.socket.remoteAddress ?? '');
      listAccounts([])(request, response, url);
    };
    return from;
  }

  test('the bank sees the chosen source address on a direct route', async () => {
    const from = seenFrom();
    await createEgress(identityFor(bank), { EGRESS_LOCAL_ADDRESS: '127.0.0.2' }).get(accountsAt(bank.url));
    await createEgress(identityFor(bank)).get(accountsAt(bank.url));
    expect(from).toEqual(['127.0.0.2', '127.0.0.1']);
  });

  test.each(['http proxy', 'https proxy'] as const)('an %s sees the chosen source address', async (route) => {
    const { proxy, settings } = await startRoute(route);
    await createEgress(identityFor(bank), { ...settings, EGRESS_LOCAL_ADDRESS: '127.0.0.2' }).get(accountsAt(bank.url));
    expect(proxy.from).toEqual(['127.0.0.2']);
  });

  test('an IPv4 source address is not used with an IPv6 address of the bank', async () => {
    const from = seenFrom();
    resolveTo([DEAD_V6, V4]);
    await createEgress(identityFor(bank), { EGRESS_LOCAL_ADDRESS: '127.0.0.2' }).get(accountsAt(withName(bank.url)));
    const proxy = await startConnectProxy();
    proxy.url.hostname = 'localhost';
    const settings = { EGRESS_PROXY_URL: proxy.url, EGRESS_LOCAL_ADDRESS: '127.0.0.2' };
    await createEgress(identityFor(bank), settings).get(accountsAt(bank.url));
    expect(from).toEqual(['127.0.0.2', '127.0.0.1']);
    expect(proxy.from).toEqual(['127.0.0.2']);
  });

  test('the error mentions a source address that this machine does not have', async () => {
    const egress = createEgress(identityFor(bank), { EGRESS_LOCAL_ADDRESS: '192.0.2.77' });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
      code: 'bank-unreachable',
      detail: expect.stringMatching(
        /cannot be reached: this machine has no source address for it; check EGRESS_LOCAL_ADDRESS \(EADDRNOTAVAIL\)\.$/,
      ),
    });
    const { url } = await startConnectProxy();
    const proxied = createEgress(identityFor(bank), { EGRESS_PROXY_URL: url, EGRESS_LOCAL_ADDRESS: '192.0.2.77' });
    expect(await failureOf(proxied.get(accountsAt(bank.url)))).toMatchObject({
      code: 'proxy-unavailable',
      detail: expect.stringMatching(/^The egress proxy .*; check EGRESS_LOCAL_ADDRESS \(EADDRNOTAVAIL\)\.$/),
    });
  });

  test.each([
    ['is of the other family', '::1', '127.0.0.1'],
    ['is a loopback one, to another machine', '127.0.0.1', '192.0.2.1'],
  ])('the error mentions a source address that %s', async (_name, source, target) => {
    const check = /cannot be reached: the source address cannot lead to it; check EGRESS_LOCAL_ADDRESS \(EINVAL\)\.$/;
    const egress = createEgress(identityFor(bank), { EGRESS_LOCAL_ADDRESS: source });
    expect(await failureOf(egress.get(accountsAt(`https://${target}:1`)))).toMatchObject({
      code: 'bank-unreachable',
      detail: expect.stringMatching(check),
    });
    const settings = { EGRESS_PROXY_URL: new URL(`http://${target}:1`), EGRESS_LOCAL_ADDRESS: source };
    expect(await failureOf(createEgress(identityFor(bank), settings).get(accountsAt(bank.url)))).toMatchObject({
      code: 'proxy-unavailable',
      detail: expect.stringMatching(check),
    });
  });

  test.each([
    ['once', [DEAD_V6, V4]],
    ['twice', [DEAD_V6, { address: '::2', family: 6 }, V4]],
  ] as const)('an unreachable address (%s) is skipped, and the next is tried', async (_where, addresses) => {
    resolveTo(addresses);
    const before = openSockets();
    const egress = createEgress(identityFor(bank));
    expect((await egress.get(accountsAt(withName(bank.url)))).status).toBe(200);
    egress.retire();
    await expectSocketsLeft(before);
  });

  test('an address that does not answer is tried last', async () => {
    const silent = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
    const port = Number(new URL(bank.url).port);
    for (const address of silent) await startDeafServer(port, address);
    resolveTo([...silent, '127.0.0.1'].map((address) => ({ address, family: 4 })));
    const egress = createEgress(identityFor(bank), { BANK_CONNECT_TIMEOUT_MS: 6000 });
    // each gets a share of the deadline, and the last is reached within it
    expect((await egress.get(accountsAt(withName(bank.url)))).status).toBe(200);
    expect((await lookups.find('localhost'))[0]?.address).toBe('127.0.0.1');
  });

  test.each(['direct', 'proxy'])('%s: slow name resolution ends at the connect deadline', async (route) => {
    const proxy = await startConnectProxy();
    proxy.url.hostname = 'localhost';
    resolveTo([V4], 600);
    const egress = createEgress(identityFor(bank), {
      BANK_CONNECT_TIMEOUT_MS: 300,
      EGRESS_PROXY_URL: route === 'proxy' ? proxy.url : null,
    });
    const before = openSockets();
    const failure = await failureOf(egress.get(accountsAt(withName(bank.url))));
    expect(failure.code).toBe(route === 'proxy' ? 'proxy-unavailable' : 'bank-unreachable');
    if (route === 'direct') expect(failure.detail).toMatch(/^DNS did not resolve localhost/);
    // a resolution that finishes later opens no connection
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(openSockets()).toBeLessThanOrEqual(before);
  });
});

describe('metrics of calls', () => {
  test('each call is reported once with server, status and code; an aborted one is not', async () => {
    const bank = await startPretendBank();
    const activity = new Activity();
    const calls: BankCallEnded[] = [];
    activity.on('bankCallEnded', (call) => calls.push(call));
    const egress = createEgress(identityFor(bank), { BANK_MAX_RESPONSE_BYTES: 1000 }, [], activity);
    const request = accountsAt(bank.url);

    bank.onAccounts = (_request, response) => json(response, 200, []);
    await egress.get(request);
    bank.onAccounts = (_request, response) => json(response, 404, {});
    await egress.get(request);
    await egress.get({ ...request, judge: () => null });
    const bodies: [string, Record<string, string>][] = [
      ['<html>down</html>', {}],
      ['x'.repeat(1001), {}],
      ['no gzip', { 'Content-Encoding': 'gzip' }],
    ];
    for (const [body, headers] of bodies) {
      bank.onAccounts = (_request, response) => void response.writeHead(200, headers).end(body);
      await egress.get(request).catch(() => undefined);
    }
    const gone = accountsAt('https://localhost:1');
    await failureOf(egress.get(gone));
    bank.onAccounts = () => undefined;
    const signal = AbortSignal.timeout(50);
    await expect(egress.get({ ...request, signal })).rejects.toThrow('timeout');

    const server = { target: 'accounts', serverAddress: new URL(bank.url).hostname };
    const here = { ...server, serverPort: Number(new URL(bank.url).port), ms: expect.any(Number) };
    expect(calls).toEqual([
      { ...here, status: 200, code: null },
      { ...here, status: 404, code: 'access-not-granted' },
      { ...here, status: 404, code: null },
      ...bodies.map(() => ({ ...here, status: 200, code: 'bank-response-invalid' })),
      { ...here, serverAddress: 'localhost', serverPort: 1, status: null, code: 'bank-unreachable' },
    ]);
  });
});
