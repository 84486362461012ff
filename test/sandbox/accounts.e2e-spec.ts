import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { askAccounts, askToken, control, getToken, start } from '../support/sandbox.js';
import { until } from '../support/until.js';

interface List {
  result: { accountId: string; balances: { intraDayAmount: number }[] | null }[];
  pageInfo: { currentPage: number; pageSize: number; rowCount: number };
}

describe('the account list', () => {
  let bank: Sandbox;
  let token: string;
  const list = async (query = ''): Promise<List> => JSON.parse((await askAccounts(bank, token, query)).text) as List;
  beforeAll(async () => {
    bank = await start();
    token = await getToken(bank);
  });

  it('gives 50 accounts and the page info when nothing is asked', async () => {
    const reply = await askAccounts(bank, token, '', { headers: { 'x-request-id': 'reading-1' } });
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['x-request-id']).toBe('reading-1');
    const { result, pageInfo } = JSON.parse(reply.text) as List;
    expect(result).toHaveLength(50);
    expect(pageInfo).toEqual({ currentPage: 1, pageSize: 50, rowCount: 120 });
    expect(bank.requests.at(-1)).toMatchObject({
      endpoint: 'accounts',
      requestId: 'reading-1',
      pageNumber: 1,
      pageSize: 50,
      status: 200,
      tokenNumber: 1,
    });
  });

  it('gives every account once over its pages, whatever the letter case of the names', async () => {
    const pages = await Promise.all([1, 2, 3].map((n) => list(`?pagenumber=${n}&PAGESIZE=50&other=1`)));
    expect(pages.map(({ result }) => result.length)).toEqual([50, 50, 20]);
    expect(new Set(pages.flatMap(({ result }) => result.map(({ accountId }) => accountId))).size).toBe(120);
    expect((await list('?PageNumber=4')).result).toEqual([]);
    expect((await list('?PageSize=5000')).result).toHaveLength(120);
  });

  it.each([
    ['PageSize=0', 'PageSize'],
    ['PageSize=5001', 'PageSize'],
    ['PageNumber=0', 'PageNumber'],
    ['PageNumber=-1', 'PageNumber'],
    ['PageNumber=1.5', 'PageNumber'],
    ['pageNumber=abc', 'PageNumber'],
    ['PageNumber=', 'PageNumber'],
    ['PageNumber=1&pagenumber=2', 'PageNumber'],
    ['PageNumber=99999999999', 'PageNumber'],
  ])('answers a validation problem to %s', async (query, name) => {
    const reply = await askAccounts(bank, token, `?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.headers['content-type']).toContain('application/problem+json');
    expect(JSON.parse(reply.text)).toMatchObject({ errors: { [name]: [expect.any(String)] } });
  });

  it('keeps the digits of amounts', async () => {
    const { text } = await askAccounts(bank, token);
    for (const digits of ['19435.50', '12345678901234567.89', '-0.01', '1.5E3', '999', '88.000']) {
      expect(text).toContain(`Amount":${digits},`);
    }
  });

  it('insists on Accept, on GET and on a good token', async () => {
    for (const accept of [undefined, '*/*', 'text/html', 'application/json;q=0']) {
      expect((await askAccounts(bank, token, '', { headers: { accept } })).status).toBe(406);
    }
    const several = { headers: { accept: 'text/plain, application/json;q=0.9' } };
    expect((await askAccounts(bank, token, '', several)).status).toBe(200);
    expect((await askAccounts(bank, token, '', { method: 'POST' })).status).toBe(405);
    expect((await askAccounts(bank, `${token.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
    expect((await askAccounts(bank, '', '', { headers: { authorization: undefined } })).status).toBe(401);
  });

  it('answers 404 without a grant, and 403 to a foreign address', async () => {
    await control(bank, 'PATCH', { grantAccess: false });
    expect((await askAccounts(bank, token)).status).toBe(404);
    await control(bank, 'PATCH', { grantAccess: true, allowedIps: [] });
    expect((await askAccounts(bank, token)).status).toBe(403);
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('refuses a token after the lifetime it was issued with', async () => {
    await control(bank, 'PATCH', { tokenLifetimeSeconds: 1 });
    const { text } = await askToken(bank);
    const short = JSON.parse(text) as { access_token: string; expires_in: string };
    await control(bank, 'PATCH', { tokenLifetimeSeconds: 300 });
    expect(short.expires_in).toBe('1');
    expect((await askAccounts(bank, short.access_token)).status).toBe(200);
    await until(async () => (await askAccounts(bank, short.access_token)).status === 401);
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('refuses revoked tokens, and takes new ones', async () => {
    const old = await getToken(bank);
    await control(bank, 'PATCH', { revokeTokens: true });
    expect((await askAccounts(bank, old)).status).toBe(401);
    expect((await askAccounts(bank, await getToken(bank))).status).toBe(200);
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, old)).status).toBe(200);
  });

  it('grows and shrinks without changing the accounts that stay', async () => {
    const before = await list('?PageSize=10');
    await control(bank, 'PATCH', { accounts: 100_000 });
    const after = await list('?PageSize=10');
    expect(after.result).toEqual(before.result);
    expect(after.pageInfo.rowCount).toBe(100_000);
    expect((await list('?PageSize=5000&PageNumber=20')).result).toHaveLength(5000);
    await control(bank, 'PATCH', { accounts: 0 });
    expect((await list()).result).toEqual([]);
    await control(bank, 'DELETE');
  });

  it('changes balances over time only while movement is on', async () => {
    const before = (await askAccounts(bank, token)).text;
    expect((await askAccounts(bank, token)).text).toBe(before);
    await control(bank, 'PATCH', { movement: true });
    let moved = before;
    await until(async () => (moved = (await askAccounts(bank, token)).text) !== before);
    const still = (text: string): string => text.replaceAll(/"intraDayAmount":[^,]+/g, '');
    expect(still(moved)).toBe(still(before));
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, token)).text).toBe(before);
  });
});
