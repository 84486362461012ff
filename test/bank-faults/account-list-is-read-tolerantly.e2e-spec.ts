import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Account } from '../../src/snapshot/account.js';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { sampleAccount, sampleId } from '../support/sample-accounts.js';

const bank = await bankForFile();

const ONE = sampleAccount(1);

/** What callers get when the bank sends exactly this. */
async function read(text: string | Buffer, headers: Record<string, string> = {}) {
  bank.onAccounts = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(text);
  };
  const gateway = await startGateway(bank);
  const answer = await askInTime(gateway);
  expect({ status: answer.status, detail: answer.json.detail }).toEqual({ status: 200, detail: undefined });
  await expectCommonConditions(bank, gateway, [answer]);
  return answer.json as { accounts: Account[]; page: { total: number }; snapshot: { complete: boolean | null } };
}

const page = (account: unknown, more: object = {}) =>
  JSON.stringify({ result: [account], pageInfo: { currentPage: 1, pageSize: 1000, rowCount: 1 }, ...more });

describe('the account list is read tolerantly', () => {
  it.each([
    ['result without pageInfo', { result: [ONE] }, null],
    ['rowCount as text', { result: [ONE], pageInfo: { pageSize: '50', rowCount: '1' } }, true],
    ['a bare array', [ONE], null],
    ['new fields everywhere', { result: [{ ...ONE, newOne: { deep: [1, { x: null }] } }], links: {} }, null],
  ])('%s', async (_name, document, complete) => {
    const { accounts, page, snapshot } = await read(JSON.stringify(document));
    expect(accounts.map(({ id }) => id)).toEqual([sampleId(1)]);
    expect(page.total).toBe(1);
    expect(snapshot.complete).toBe(complete);
  });

  it.each([
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/json', 'text/json'],
    ['no type at all', ''],
  ])('content type %s', async (_name, type) => {
    expect((await read(page(ONE), { 'content-type': type })).accounts).toHaveLength(1);
  });

  it('early hints before the answer', async () => {
    bank.onAccounts = (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200, { 'content-type': 'application/json' }).end(page(ONE));
    };
    const gateway = await startGateway(bank);
    expect((await askInTime(gateway)).json.page.total).toBe(1);
  });

  it('an idle connection that the bank closes just as it is used again', async () => {
    const used = new Map<Socket, number>();
    const good = bank.onAccounts;
    bank.onAccounts = (request, ...rest) => {
      const times = (used.get(request.socket) ?? 0) + 1;
      used.set(request.socket, times);
      if (times > 1) request.socket.destroy();
      else good(request, ...rest);
    };
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' });
    const answers = [await askInTime(gateway), await askInTime(gateway), await askInTime(gateway)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ json }) => json.snapshot.stale)).toEqual([false, false, false]);
    expect(used.size).toBeGreaterThan(1);
    expect(gateway.events('bank.unavailable')).toEqual([]);
    await expectCommonConditions(bank, gateway, answers);
  });
});
