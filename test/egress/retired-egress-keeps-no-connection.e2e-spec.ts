import { expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { listAccounts } from '../support/pretend-bank.js';
import { ROUTES, startRoute } from '../support/connect-proxy.js';
import { accountsAt, createEgress, identityFor, openSockets, socketsLeft } from '../support/egress.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

test.each(ROUTES)('%s: idle connections close at once, calls under way end well', async (route) => {
  const { settings } = await startRoute(route);
  const before = openSockets();
  const egress = createEgress(identityFor(bank), { ...settings, BANK_MAX_CONCURRENT_REQUESTS: 4 });
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
