import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';

const PATH = '/api/v1/accounts';
const IBAN = 'LU060408123456789012';
const HIDDEN_FORMULA = '\u0000=1+1';

let gateway: Gateway;
beforeAll(async () => {
  const bank = await startPretendBank();
  bank.onAccounts = (_request, response) => {
    const named = sampleAccount(1, {
      friendlyName: HIDDEN_FORMULA,
      ibans: [IBAN],
      balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: 1234.5, intraDayAmount: -0.25 }],
    });
    const bare = sampleAccount(2, { friendlyName: 'semi;colon', ibans: null, accountIdentifiers: null });
    json(response, 200, { result: [named, bare], pageInfo: { pageSize: 1000, rowCount: 2 } });
  };
  gateway = await startGateway(bank);
});

describe('a filter of which nothing is left', () => {
  it.each([
    ['iban', '%20'],
    ['iban', '%20%C2%A0'],
    ['iban', '%CC%81'],
    ['q', '%CC%81'],
    ['q', ''],
  ])('%s=%s is refused, on the list and on the balances', async (name, value) => {
    for (const path of [PATH, '/api/v1/balances', `${PATH}?format=csv`]) {
      const { status, json: problem } = await gateway.get(`${path}${path.includes('?') ? '&' : '?'}${name}=${value}`);
      expect([path, status, problem.errors?.map((each: { name: string }) => each.name)]).toEqual([path, 400, [name]]);
    }
  });

  it.each(['iban=LU06%200408%201234%205678%209012', 'q=LU06%200408', 'q=lu06+0408+1234', 'q=%20LU06'])(
    'its twin: spaces where they stand in an IBAN are ignored: %s',
    async (query) => {
      const { json: list } = await gateway.get(`${PATH}?${query}`);
      expect(list.accounts.map(({ iban }: { iban: string }) => iban)).toEqual([IBAN]);
      expect((await gateway.get(`/api/v1/balances?${query}`)).json.totals).toMatchObject([{ accounts: 1 }]);
    },
  );

  it('and a space that stands in no account finds none', async () => {
    expect((await gateway.get(`${PATH}?q=LU06%200409`)).json.page.total).toBe(0);
  });
});

describe('CSV', () => {
  it.each([
    ['', ',', '1234.25'],
    ['&separator=semicolon&decimal=comma', ';', '1234,25'],
    ['&separator=tab', '\t', '1234.25'],
    ['&decimal=comma', ',', '1234,25'],
  ])('with %j has %j between columns and amounts as %s', async (more, delimiter, current) => {
    const { headers, text } = await gateway.get(`${PATH}?format=csv${more}`);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const rows = parse(text, { bom: true, columns: true, delimiter }) as Record<string, string>[];
    expect(rows.map((row) => row['iban']).toSorted()).toEqual(['', IBAN]);
    expect(rows.find((row) => row['iban'] === IBAN)?.['current']).toBe(current);
    expect(rows.some((row) => row['name'] === 'semi;colon')).toBe(true);
  });

  it('defuses a formula behind a control character; JSON keeps the name as it is', async () => {
    expect((await gateway.get(`${PATH}?format=csv`)).text).toContain(`,'${HIDDEN_FORMULA},`);
    const { json: list } = await gateway.get(PATH);
    expect(list.accounts.map(({ name }: { name: string }) => name)).toContain(HIDDEN_FORMULA);
  });

  it('another separator is refused', async () => {
    expect((await gateway.get(`${PATH}?format=csv&separator=pipe`)).json.errors).toMatchObject([{ name: 'separator' }]);
  });
});

describe("the bank's count", () => {
  it.each([
    ['120.0', true],
    ['1.2e2', true],
    ['"120"', true],
    ['121.0', false],
    ['120.5', null],
  ])('written as %s is taken as it is meant: complete is %s', async (count, complete) => {
    const bank = await startPretendBank();
    const rows = Array.from({ length: 120 }, (_each, index) => JSON.stringify(sampleAccount(index + 1)));
    bank.onAccounts = (_request, response) =>
      json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":1000,"rowCount":${count}}}`);
    const other = await startGateway(bank);
    const { json: list } = await other.get(`${PATH}?pageSize=1`);
    expect([list.page.total, list.snapshot.complete]).toEqual([120, complete]);
    await other.close();
  });
});
