import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import type { Account } from '../../src/snapshot/account.js';
import { askInTime } from '../support/common-conditions.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';

let gateway: Gateway;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '300000' });
});

describe('paging', () => {
  const list = async (query = '') => {
    const answer = await askInTime(gateway, `/api/v1/accounts${query}`);
    expect(answer.status).toBe(200);
    return answer.json as {
      accounts: Account[];
      page: { number: number; size: number; total: number; hasMore: boolean };
      snapshot: object;
    };
  };

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
    expect((await list('?pageNumber=3&pageSize=40')).page).toEqual({
      number: 3,
      size: 40,
      total: 120,
      hasMore: false,
    });
    expect((await list('?pageSize=1000')).accounts).toHaveLength(120);
    expect((await list('?pageSize=1')).accounts).toHaveLength(1);
  });
});

describe('parameters', () => {
  // every form of a number and a name is in src/accounts/list-query.spec.ts and src/http/parse-query.spec.ts
  const VALUES = ['0', '-1', '1.5', '1e3', '', '9007199254740992', '+1', '%201', '%D9%A1', '%', '%ff'];

  const names = async (query: string): Promise<string[]> => {
    const { status, json } = await askInTime(gateway, encodeURI(`/api/v1/accounts?${query}`).replaceAll('%25', '%'));
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid-request', owner: 'caller', instance: '/api/v1/accounts' });
    const errors = json.errors as { name: string; reason: string }[];
    for (const { name, reason } of errors) {
      expect(reason).not.toBe('');
      expect(json.detail).toContain(name);
    }
    return errors.map(({ name }) => name);
  };

  it.each(VALUES)('pageNumber=%s is refused', async (value) => {
    expect(await names(`pageNumber=${value}`)).toEqual(['pageNumber']);
  });

  it.each([...VALUES, '1001', '5000'])('pageSize=%s is refused', async (value) => {
    expect(await names(`pageSize=${value}`)).toEqual(['pageSize']);
  });

  it.each([
    ['a repeated one', 'pageNumber=1&pageNumber=2', ['pageNumber']],
    ['two spellings of one name', 'PageNumber=1&pageNumber=1', ['pageNumber']],
    ['an unknown one', 'page=1', ['page']],
    ['several unknown ones, all named', 'one=1&two=2&Three=3', ['one', 'two', 'Three']],
    ['a wrong and an unknown one', 'pageSize=0&x=1', ['pageSize', 'x']],
    ['brackets', 'pageNumber[]=1', ['pageNumber[]']],
    ['__proto__[x]', '__proto__[x]=1', ['__proto__[x]']],
    ['constructor.prototype', 'constructor.prototype=1', ['constructor.prototype']],
    ['a name with a space', 'pageNumber =1', ['pageNumber ']],
    ['a name alone', 'pageNumber', ['pageNumber']],
  ])('%s: %s', async (_name, query, expected) => {
    expect((await names(query)).sort()).toEqual([...expected].sort());
  });

  it('a misspelled one is answered with what may have been meant, on the routes that have such a one', async () => {
    const reasonOf = async (path: string) => (await gateway.get(path)).json.errors[0].reason as string;
    expect(await reasonOf('/api/v1/accounts?pagsize=5')).toContain('did you mean pageSize?');
    expect(await reasonOf('/api/v1/balances?curency=EUR')).toContain('did you mean currency?');
    for (const path of ['/api/v1/balances?pagsize=5', '/api/v1/accounts/some-id?curency=EUR']) {
      expect(await reasonOf(path)).toBe('is not a parameter of this route');
    }
  });

  it('an account takes none', async () => {
    const { status, json } = await askInTime(gateway, '/api/v1/accounts/some-id?pageNumber=1');
    expect(status).toBe(400);
    expect(json.errors.map(({ name }: { name: string }) => name)).toEqual(['pageNumber']);
  });

  it('nothing of it changed what objects are', () => {
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('the counterpart: the same names with good values are taken', async () => {
    expect((await askInTime(gateway, '/api/v1/accounts?pageNumber=1&pageSize=1000&')).status).toBe(200);
  });
});

describe('one account', () => {
  it('is the same as in the list, from the same snapshot', async () => {
    const { accounts, snapshot } = (await gateway.get('/api/v1/accounts?pageSize=1000')).json;
    for (const account of [accounts[0], accounts[60], accounts[119]]) {
      const answer = await askInTime(gateway, `/api/v1/accounts/${account.id}`);
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({ account, snapshot });
    }
    expect(sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts')).toHaveLength(1);
  });

  it.each([
    '00000000-0000-4000-8000-000000000000',
    'nobody',
    '__proto__',
    'constructor',
    '..%2f..%2fhealth',
    'a%00b',
    '%F0%9F%90%9F',
    'x'.repeat(200),
  ])('%s is account-not-found', async (id) => {
    const answer = await askInTime(gateway, `/api/v1/accounts/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({
      code: 'account-not-found',
      owner: 'caller',
      instance: `/api/v1/accounts/${id}`,
    });
  });

  it.each(['/api/v1/accounts/x/y', '/api/v1/account', '/api/v2/accounts', '/api/v1/Accounts', '/nothing'])(
    '%s is not-found',
    async (path) => {
      const answer = await askInTime(gateway, path);
      expect(answer.status).toBe(404);
      expect(answer.json).toMatchObject({ code: 'not-found', owner: 'caller', instance: path });
    },
  );

  it('an id longer than any bank has is refused as a problem, too', async () => {
    const answer = await askInTime(gateway, `/api/v1/accounts/${'x'.repeat(5000)}`);
    expect([400, 404, 414]).toContain(answer.status);
    expect(answer.json.owner).toBe('caller');
  });
});
