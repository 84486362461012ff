import dns from 'node:dns';
import { isIP } from 'node:net';
import { afterEach, expect, jest, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { listAccounts } from '../support/pretend-bank.js';
import { startRoute, startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor, openSockets, socketsLeft } from '../support/egress.js';

const bank = await bankForFile();
afterEach(() => void jest.restoreAllMocks());

interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}
type Answer = (error: NodeJS.ErrnoException | null, address: string | dns.LookupAddress[], family?: number) => void;

/** Names resolve to these, in this order, after `afterMs`; as getaddrinfo does, only to the family asked for. */
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

/** The addresses that calls came from. */
function seenFrom(): string[] {
  const from: string[] = [];
  bank.onAccounts = (request, response, url) => {
    from.push(request.socket.remoteAddress ?? '');
    listAccounts([])(request, response, url);
  };
  return from;
}

test('directly the bank sees the chosen source address', async () => {
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

test('an IPv4 source address is not tried with the IPv6 address of a name', async () => {
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

test('a source address that this machine does not have', async () => {
  const egress = createEgress(identityFor(bank), { EGRESS_LOCAL_ADDRESS: '192.0.2.77' });
  expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
    code: 'bank-unreachable',
    detail: expect.stringMatching(/no route.*EADDRNOTAVAIL/),
  });
});

test.each([
  ['first', [DEAD_V6, V4]],
  ['last', [V4, DEAD_V6]],
  ['twice', [DEAD_V6, { address: '::2', family: 6 }, V4]],
] as const)('of several addresses one that refuses (%s) is passed over', async (_where, addresses) => {
  resolveTo(addresses);
  const before = openSockets();
  const egress = createEgress(identityFor(bank));
  expect((await egress.get(accountsAt(withName(bank.url)))).status).toBe(200);
  egress.retire();
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test('a name that changes its address is followed by the next connection', async () => {
  const from = seenFrom();
  resolveTo([DEAD_V6]);
  const egress = createEgress(identityFor(bank));
  expect(await failureOf(egress.get(accountsAt(withName(bank.url))))).toMatchObject({ code: 'bank-unreachable' });
  resolveTo([V4]);
  await egress.get(accountsAt(withName(bank.url)));
  expect(from).toHaveLength(1);
});

test.each(['direct', 'proxy'])('%s: a name that is slow to resolve ends with the connect deadline', async (route) => {
  const proxy = await startConnectProxy();
  proxy.url.hostname = 'localhost';
  resolveTo([V4], 1500);
  const before = openSockets();
  const egress = createEgress(identityFor(bank), {
    BANK_CONNECT_TIMEOUT_MS: 300,
    EGRESS_PROXY_URL: route === 'proxy' ? proxy.url : null,
  });
  const failure = await failureOf(egress.get(accountsAt(withName(bank.url))));
  expect(failure.code).toBe(route === 'proxy' ? 'proxy-unavailable' : 'bank-timeout');
  expect(failure.ms).toBeLessThan(2000);
  // and what resolves afterwards opens nothing
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(openSockets()).toBeLessThanOrEqual(before);
});
