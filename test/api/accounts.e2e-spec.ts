import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { Account } from '../../src/list/account.js';
import { askInTime } from '../support/common-conditions.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { json, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';

// The rules are tested next to the code: fields in src/bank and src/list, parameters and CSV in src/accounts and
// src/list.

const PATH = '/api/v1/accounts';

describe('the list', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway(await start(), { SNAPSHOT_FRESH_MS: '300000', BANK_PAGE_SIZE: '50' });
  });

  const list = async (query = '') => {
    const answer = await askInTime(gateway, PATH + query);
    expect(answer.status).toBe(200);
    return answer.json as {
      accounts: Account[];
      page: { number: number; size: number; total: number; hasMore: boolean };
      snapshot: object;
    };
  };

  it('returns every account exactly once over its pages, sorted by name', async () => {
    const pages = [await list(), await list('?pageNumber=2'), await list('?pageNumber=3')];
    expect(pages.map(({ page }) => page)).toEqual(
      [1, 2, 3].map((number) => ({ number, size: 50, total: 120, hasMore: number < 3 })),
    );
    expect(pages.map(({ accounts }) => accounts.length)).toEqual([50, 50, 20]);
    const all = pages.flatMap(({ accounts }) => accounts);
    expect(new Set(all.map(({ id }) => id)).size).toBe(120);
    const { compare } = new Intl.Collator('en', { numeric: true });
    const { asOf, expiresAt } = pages.map(({ snapshot }) => snapshot as Readonly<Record<string, string>>)[0] ?? {};
    expect(Date.parse(String(expiresAt)) - Date.parse(String(asOf))).toBe(300_000);
    const names = all.map(({ name }) => name);
    expect(names).toEqual(names.toSorted(compare));
    expect(pages[0]?.snapshot).toEqual({
      asOf: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      stale: false,
      complete: true,
    });
  });

  it.each([
    ['?PageNumber=2&PAGESIZE=7', 7, { number: 2, size: 7, hasMore: true }],
    ['?page%4Eumber=2&pageSize=%37', 7, { number: 2, size: 7, hasMore: true }],
    ['?pageSize=1000&', 120, { number: 1, size: 1000, hasMore: false }],
    ['?pageNumber=4', 0, { number: 4, size: 50, hasMore: false }],
    ['?pageNumber=99999999999999', 0, { size: 50, hasMore: false }],
  ])('is paged: %s has %i accounts', async (query, count, page) => {
    const { accounts, page: found } = await list(query);
    expect(accounts).toHaveLength(count);
    expect(found).toMatchObject({ ...page, total: 120 });
  });

  it.each([
    ['pageSize=%ff', ['pageSize']],
    ['pageSize=%D9%A1', ['pageSize']],
    ['pageSize=0&one=1&Two=2', ['Two', 'one', 'pageSize']],
    ['pageNumber[]=1', ['pageNumber[]']],
    ['__proto__[x]=1', ['__proto__[x]']],
    [`${'&'.repeat(100)}nonsense=1`, ['nonsense']],
  ])('rejects ?%s with a 400 that names the parameter', async (query, names) => {
    const { status, json: problem } = await askInTime(gateway, `${PATH}?${query}`);
    expect(status).toBe(400);
    expect(problem).toMatchObject({ code: 'invalid-request', owner: 'caller', instance: PATH });
    const errors = problem.errors as { name: string; reason: string }[];
    expect(errors.map(({ name }) => name).sort()).toEqual(names);
    for (const { name } of errors) expect(problem.detail).toContain(name);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('has the same accounts as the route of one account, from the same snapshot', async () => {
    const { accounts, snapshot } = await list('?pageSize=1000');
    for (const account of [accounts[0], accounts[119]]) {
      const answer = await askInTime(gateway, `${PATH}/${account?.id}`);
      expect([answer.status, answer.json]).toEqual([200, { account, snapshot }]);
    }
  });

  it.each(['nobody', '__proto__', '..%2f..%2fhealth', 'a%00b', '%F0%9F%90%9F', 'x'.repeat(200)])(
    'has no account with the id %s: account-not-found',
    async (id) => {
      const { json: problem } = await askInTime(gateway, `${PATH}/${id}`);
      expect(problem).toMatchObject({ status: 404, code: 'account-not-found', instance: `${PATH}/${id}` });
    },
  );

  it.each([`${PATH}/x/y`, '/api/v2/accounts', '/api/v1/Accounts', '/nothing'])(
    'the path %s is not-found',
    async (path) => {
      const { json: problem } = await askInTime(gateway, path);
      expect(problem).toMatchObject({ status: 404, code: 'not-found', owner: 'caller', instance: path });
    },
  );
});

it.each(['é'.repeat(60), '€'.repeat(200), '😀'.repeat(100), '/'.repeat(200)])(
  'an account whose id is %j can be requested by its id',
  async (id) => {
    const bank = await startPretendBank();
    bank.onAccounts = listAccounts([sampleAccount(1, { accountId: id })]);
    const gateway = await startGateway(bank);
    const { status, json: answer } = await askInTime(gateway, `${PATH}/${encodeURIComponent(id)}`);
    expect([status, answer.account.id]).toEqual([200, id]);
  },
);

describe('a query of the list', () => {
  const IBAN = 'LU060408123456789012';
  const NAMES = [
    '=cmd|calc',
    '+1',
    '-1',
    '@SUM(A1)',
    'semi;colon',
    'two\r\nlines',
    '=1+1',
    '👩‍👧 東京',
    ' spaced ',
    'half \uFFFD emoji, \u2028 and \u0085 line ends',
  ];
  const AMOUNTS = ['19435.50', '-0.01', '12345678901234567890', '0.10', '1e3', '0', '-7.000', '1.5E-7', '100', '0'];
  const WRITTEN = [
    '19435.50',
    '-0.01',
    '12345678901234567890',
    '0.10',
    '1000',
    '0',
    '-7.000',
    '0.00000015',
    '100',
    '0',
  ];

  let gateway: Gateway;
  beforeAll(async () => {
    const bank = await startPretendBank();
    bank.onAccounts = (_request, response) => {
      const rows = NAMES.map((name, index) => {
        const account = sampleAccount(index + 1, {
          // half of an emoji, and NUL, are what no reader takes
          friendlyName: name === '=1+1' ? '\u0000=1+1' : name.replace('\uFFFD', '\uD83D'),
          status: index % 2 ? 'Closed' : 'Active',
          currency: index % 3 ? 'EUR' : 'USD',
          ownedByCompanyId: `owner-${index % 2}`,
          ibans: [index === 0 ? IBAN : `DE0${index}`],
          accountIdentifiers: null,
          balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: `#${index}#`, intraDayAmount: 0 }],
        });
        // the bank's digits; JSON.stringify would change them
        return JSON.stringify(account).replace(/"#(\d+)#"/, (_all, at) => AMOUNTS[Number(at)] as string);
      });
      json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":1000,"rowCount":${rows.length}}}`);
    };
    gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '600000' });
  });

  it.each([
    ['status=CLOSED&sort=openedAt', [2, 4, 6, 8, 10]],
    ['ownerid=OWNER-1&sort=openedAt', [2, 4, 6, 8, 10]],
    ['iban=LU06%200408%201234%205678%209012', [1]],
    ['iban=IBAN%20lu06-0408-1234-5678-9012%E2%80%8E', [1]],
    ['q=%E6%9D%B1', [8]],
    ['sort=current', [7, 2, 6, 10, 8, 4, 9, 5, 1, 3]],
    ['sort=-current&pageSize=2&pageNumber=5', [2, 7]],
  ])('?%s returns the matching accounts in order', async (query, expected) => {
    const { json: body } = await gateway.get(`${PATH}?${query}`);
    expect(body.accounts.map(({ id }: Account) => Number(id.slice(-12)))).toEqual(expected);
  });

  it.each([
    [PATH, {}, 'application/json; charset=utf-8'],
    [PATH, { accept: 'text/*, application/json;q=0.5' }, 'text/csv; charset=utf-8'],
    [PATH, { accept: 'application/x-ndjson' }, 'application/x-ndjson; charset=utf-8'],
    [`${PATH}?format=csv`, { accept: 'application/json' }, 'text/csv; charset=utf-8'],
    [`${PATH}?format=json`, { accept: 'image/png' }, 'application/json; charset=utf-8'],
    [PATH, { accept: 'application/xml' }, 'application/problem+json; charset=utf-8'],
    ['/api/v1/balances', { accept: 'text/csv' }, 'application/problem+json; charset=utf-8'],
  ])('to %s with the headers %j is answered as %s', async (path, headers, type) => {
    const answer = await gateway.get(path, headers);
    expect(answer.headers['content-type']).toBe(type);
    if (answer.status !== 200) expect(answer.json).toMatchObject({ status: 406, code: 'not-acceptable' });
  });

  it("keeps the bank's digits in JSON, CSV and NDJSON; only CSV escapes names that look like formulas", async () => {
    const list = (await gateway.get(`${PATH}?sort=openedAt`)).json.accounts as Account[];
    expect(list.map(({ name }) => name)).toEqual(NAMES);
    expect(list.map(({ balances }) => balances[0]?.beginOfDay)).toEqual(WRITTEN);
    const lines = (await gateway.get(`${PATH}?sort=openedAt&format=ndjson&pageSize=2`)).text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(list);
    expect(lines.join('')).not.toMatch(/[\u0085\u2028\u2029]/);
    const csv = await gateway.get(`${PATH}?sort=openedAt&format=csv&pageSize=2&separator=semicolon&decimal=comma`);
    expect(csv.text.startsWith('\uFEFFid;name;')).toBe(true);
    const table = parse(csv.text, {
      bom: true,
      columns: true,
      delimiter: ';',
      record_delimiter: '\r\n',
    }) as Record<string, string>[];
    expect(table.map(({ name }) => name)).toEqual(NAMES.map((name) => (/^[=+\-@]/.test(name) ? `'${name}` : name)));
    for (const [index, row] of table.entries()) {
      const amount = WRITTEN[index]?.replace('.', ',');
      expect(row).toMatchObject({ beginOfDay: amount, current: amount, asOf: csv.headers['snapshot-as-of'] });
    }
  });

  it('has the same filters as the totals, which are exact', async () => {
    const { json: all } = await gateway.get('/api/v1/balances');
    expect(all.totals).toEqual([
      {
        currency: 'EUR',
        accounts: 10,
        missing: 0,
        beginOfDay: '12345678901234588418.59000015',
        intraDay: '0',
        current: '12345678901234588418.59000015',
        earliestFinancialDate: null,
        latestFinancialDate: null,
      },
    ]);
    const { json: closed } = await gateway.get('/api/v1/balances?status=closed');
    expect(closed.totals[0]).toMatchObject({ accounts: 5, current: '0.09000015' });
    expect((await gateway.get('/api/v1/balances?sort=name')).json.errors).toMatchObject([{ name: 'sort' }]);
    expect((await gateway.get('/api/v1/balances?q=nothing+like+it')).json.totals).toEqual([]);
  });
});
