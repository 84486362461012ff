import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { listAccounts } from '../support/pretend-bank.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

test('never more calls than allowed are at the bank, and all of them get there', async () => {
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

test('a call that is given up while it waits for its turn ends at once, and takes no turn', async () => {
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
  await delay(20);
  const started = performance.now();
  controller.abort(reason);
  await Promise.all(waiting);
  expect(performance.now() - started).toBeLessThan(1000);
  await expect(egress.get(accountsAt(bank.url, { signal: controller.signal }))).rejects.toBe(reason);
  held.shift()?.();
  await first;
  await until(() => held.length === 1);
  held.shift()?.();
  expect((await last).status).toBe(200);
  expect(bank.requests.length).toBe(asked + 1);
});

test('failures of all kinds give their places back', async () => {
  bank.onAccounts = (request, _response) => request.socket.destroy();
  const egress = createEgress(identityFor(bank), { BANK_MAX_CONCURRENT_REQUESTS: 2, BANK_REQUEST_TIMEOUT_MS: 300 });
  await Promise.all(Array.from({ length: 10 }, () => failureOf(egress.get(accountsAt(bank.url)))));
  bank.onAccounts = () => undefined;
  await Promise.all(Array.from({ length: 4 }, () => failureOf(egress.get(accountsAt(bank.url)))));
  bank.onAccounts = () => undefined;
  const gone = Array.from({ length: 10 }, () => egress.get(accountsAt(bank.url, { signal: AbortSignal.timeout(50) })));
  await Promise.allSettled(gone);
  bank.onAccounts = listAccounts([]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => egress.get(accountsAt(bank.url))));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
});
