import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Account } from '../../src/snapshot/account.js';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { PLANTED, sampleAccount, sampleId } from '../support/sample-accounts.js';

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

/** The balance of an account whose amounts stand in the JSON as given. */
async function balanceOf(beginOfDay: string, intraDay: string) {
  const text = page(ONE)
    .replace(PLANTED.beginOfDay, () => beginOfDay)
    .replace(PLANTED.intraDay, () => intraDay);
  const { accounts } = await read(text);
  return accounts[0]?.balances[0];
}

describe('the account list is read tolerantly', () => {
  it.each([
    ['result without pageInfo', { result: [ONE] }, null],
    ['pageInfo without rowCount', { result: [ONE], pageInfo: { currentPage: 1, pageSize: 50 } }, null],
    ['rowCount null', { result: [ONE], pageInfo: { currentPage: 1, pageSize: 50, rowCount: null } }, null],
    ['rowCount as text', { result: [ONE], pageInfo: { pageSize: '50', rowCount: '1' } }, true],
    ['another name for the list', { accounts: [ONE], pageInfo: { pageSize: 50, rowCount: 1 } }, true],
    ['another name beside empty arrays', { errors: [], items: [ONE], warnings: [] }, null],
    ['a bare array', [ONE], null],
    ['new fields everywhere', { result: [{ ...ONE, newOne: { deep: [1, { x: null }] } }], links: {} }, null],
    ['duplicate of the count outside pageInfo', { result: [ONE], rowCount: 1 }, true],
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

  it('a byte order mark', async () => {
    expect((await read(`\uFEFF${page(ONE)}`)).accounts).toHaveLength(1);
  });

  it('no accounts at all', async () => {
    const { accounts, page, snapshot } = await read('{"result":[],"pageInfo":{"pageSize":50,"rowCount":0}}');
    expect({ accounts, total: page.total, complete: snapshot.complete }).toEqual({
      accounts: [],
      total: 0,
      complete: true,
    });
  });

  it('a field nested 200 000 deep that nobody reads', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect((await read(page(ONE).replace('"status"', () => `"deep":${deep},"status"`))).accounts).toHaveLength(1);
  });

  it('__proto__ and constructor are names like others, and duplicate names count once, the last', async () => {
    const text = page(ONE).replace(
      '"status":"Active"',
      '"__proto__":{"friendlyName":"x"},"constructor":{"prototype":{"polluted":1}},"status":"Active","status":"Closed"',
    );
    const { accounts } = await read(text);
    expect(accounts[0]).toMatchObject({ status: 'Closed', name: 'Operating 1' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('values that nobody knows pass through', async () => {
    const { accounts } = await read(
      page({
        ...ONE,
        status: 'Frozen',
        protectionType: 'Escrow',
        currency: 'USDT2',
        openingDate: '0001-01-01T00:00:00',
      }),
    );
    expect(accounts[0]).toMatchObject({
      status: 'Frozen',
      protection: 'Escrow',
      currency: 'USDT2',
      openedAt: '0001-01-01T00:00:00',
    });
  });

  it.each([
    ['1.10', '2.2', '1.10', '2.2', '3.30'],
    ['19435.50', '-0.01', '19435.50', '-0.01', '19435.49'],
    ['12345678901234567890.12', '0.01', '12345678901234567890.12', '0.01', '12345678901234567890.13'],
    ['"12.30"', '"0"', '12.30', '0', '12.30'],
    ['1.5E3', '25e-4', '1500', '0.0025', '1500.0025'],
    ['-0', '0.00', '-0', '0.00', '0.00'],
    ['null', '1', null, '1', null],
    ['""', '1', null, '1', null],
    ['5', 'null', '5', null, null],
  ])('amounts %s and %s keep their digits', async (beginOfDay, intraDay, ...expected) => {
    const balance = await balanceOf(beginOfDay, intraDay);
    expect([balance?.beginOfDay, balance?.intraDay, balance?.current]).toEqual(expected);
  });

  it('an exponent is written out up to 400 digits', async () => {
    expect((await balanceOf('1E399', '0'))?.beginOfDay).toBe(`1${'0'.repeat(399)}`);
    expect((await balanceOf('9'.repeat(400), '0'))?.beginOfDay).toBe('9'.repeat(400));
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
