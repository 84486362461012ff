import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { closePretendBanks, listAccounts, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import {
  accountsAt,
  closeProxies,
  createEgress,
  identityFor,
  openSockets,
  socketsLeft,
  startConnectProxy,
} from '../support/proxies.js';
import { until } from '../support/until.js';

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
});
afterEach(async () => {
  await closeProxies();
  bank.onAccounts = listAccounts([]);
});
afterAll(closePretendBanks);

test.each(['direct', 'proxy'])('%s: idle connections close at once, calls under way end well', async (route) => {
  const proxy = await startConnectProxy();
  const before = openSockets();
  const egress = createEgress(identityFor(bank), {
    proxy: route === 'proxy' ? proxy.url : null,
    maxConcurrentRequests: 4,
  });
  await Promise.all([1, 2, 3, 4].map(() => egress.get(accountsAt(bank.url))));
  expect(bank.sockets.size).toBe(4);

  const held: (() => void)[] = [];
  bank.onAccounts = (...args) => held.push(() => listAccounts([])(...args));
  // four on their way, two of them waiting for a place
  const calls = [1, 2].map(() => egress.get(accountsAt(bank.url)));
  await until(() => held.length === 2);
  egress.retire();
  await until(() => bank.sockets.size === 2, 500);
  // a call that comes after all is served, and leaves nothing either
  const late = egress.get(accountsAt(bank.url));
  await until(() => held.length === 3);
  for (const answer of held) answer();
  const answers = await Promise.all([...calls, late]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
  expect(bank.sockets.size).toBe(0);
});

test('retired before its first call', async () => {
  const before = openSockets();
  const egress = createEgress(identityFor(bank));
  egress.retire();
  expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});
