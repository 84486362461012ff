import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Account } from '../../src/snapshot/account.js';
import { start } from '../support/sandbox.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway(await start());
});

const list = async (query = '') => {
  const answer = await askInTime(gateway, `/api/v1/accounts${query}`);
  expect(answer.status).toBe(200);
  return answer.json as {
    accounts: Account[];
    page: { number: number; size: number; total: number; hasMore: boolean };
    snapshot: object;
  };
};

describe('callers page through the list', () => {
  it('gives the first 50 when nothing is asked', async () => {
    const { accounts, page, snapshot } = await list();
    expect(accounts).toHaveLength(50);
    expect(page).toEqual({ number: 1, size: 50, total: 120, hasMore: true });
    expect(snapshot).toEqual({ asOf: expect.stringMatching(/^\d{4}-.*Z$/), stale: false, complete: true });
  });

  it('gives every account once over the pages, by name', async () => {
    const pages = [await list('?pageNumber=1'), await list('?pageNumber=2'), await list('?pageNumber=3')];
    expect(pages.map(({ accounts }) => accounts.length)).toEqual([50, 50, 20]);
    expect(pages.map(({ page }) => page.hasMore)).toEqual([true, true, false]);
    const all = pages.flatMap(({ accounts }) => accounts);
    expect(new Set(all.map(({ id }) => id)).size).toBe(120);
    const { compare } = new Intl.Collator('und', { numeric: true });
    for (const [index, account] of all.entries()) {
      const next = all[index + 1];
      if (next) expect(compare(account.name, next.name)).toBeLessThanOrEqual(0);
    }
  });

  it.each([
    '?pageNumber=2&pageSize=7',
    '?PageNumber=2&PageSize=7',
    '?pagenumber=2&pagesize=7',
    '?PAGENUMBER=2&PAGESIZE=7',
    '?pAgEnUmBeR=2&pagesiZe=7',
    '?page%4Eumber=2&pageSize=%37',
  ])('takes %s in any letter case', async (query) => {
    const { accounts, page } = await list(query);
    expect(accounts).toHaveLength(7);
    expect(page).toEqual({ number: 2, size: 7, total: 120, hasMore: true });
  });

  it.each(['?pageNumber=4', '?pageNumber=1000', '?pageNumber=121&pageSize=1', '?pageNumber=99999999999999'])(
    'past the end (%s) is 200 with none',
    async (query) => {
      const { accounts, page } = await list(query);
      expect(accounts).toEqual([]);
      expect(page).toMatchObject({ total: 120, hasMore: false });
    },
  );

  it('ends exactly where a page ends', async () => {
    expect((await list('?pageNumber=3&pageSize=40')).page).toEqual({ number: 3, size: 40, total: 120, hasMore: false });
    expect((await list('?pageSize=1000')).accounts).toHaveLength(120);
    expect((await list('?pageSize=1')).accounts).toHaveLength(1);
  });
});
