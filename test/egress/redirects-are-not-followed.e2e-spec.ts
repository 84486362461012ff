import { beforeAll, expect, test } from '@jest/globals';
import { toAnswerError } from '../../src/egress/answer-error.js';
import { json, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { accountsAt, createEgress, identityFor } from '../support/egress.js';
import { startRawServer } from '../support/servers.js';

let bank: PretendBank;
let other: PretendBank;
beforeAll(async () => {
  [bank, other] = await Promise.all([startPretendBank(), startPretendBank()]);
});

test.each([301, 302, 303, 307, 308])('%i to another host, to http and to the same host', async (status) => {
  const plain = await startRawServer();
  const egress = createEgress(identityFor(bank));
  for (const location of [`${other.url}/api/v1/accounts`, `http://127.0.0.1:${plain.port}/`, '/elsewhere']) {
    bank.requests.length = 0;
    bank.onAccounts = (_request, response) => json(response, status, '', { location });
    const answer = await egress.get(accountsAt(bank.url));
    expect(answer.status).toBe(status);
    const error = toAnswerError(answer, 'accounts', 0);
    expect(error?.code).toBe('bank-refused');
    expect(error?.detail).not.toContain('elsewhere');
    expect(bank.requests).toHaveLength(1);
  }
  expect(other.sockets.size).toBe(0);
  expect(plain.accepted).toBe(0);
});

test('a path that is an address goes to the bank all the same', async () => {
  const egress = createEgress(identityFor(bank));
  for (const path of [`//127.0.0.1:${new URL(other.url).port}/x`, `${other.url}/x`]) {
    await egress.get(accountsAt(bank.url, { path })).catch(() => undefined);
  }
  expect(other.sockets.size).toBe(0);
});
