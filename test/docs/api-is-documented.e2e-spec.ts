import { beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/time/clock.js';
import { coded, documentPaths, readDocument, rowsUnder, withoutRow } from '../support/documents.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { enum?: string[]; minimum?: number; maximum?: number; default?: unknown };
}

const api = readDocument('docs/api.md');

let gateway: Gateway;
let paths: Record<string, { get: { parameters?: Parameter[] } }>;
beforeAll(async () => {
  const bank = await start();
  gateway = await startGateway(bank, {}, new SystemClock(), bank.control);
  paths = ((await gateway.get('/openapi.json')).json as { paths: typeof paths }).paths;
});

const routesIn = (text: string) => rowsUnder(text, 'path', 'answer').flatMap(([path]) => coded(path));

describe('the routes in docs/api.md', () => {
  it('are all that the OpenAPI document has', () => {
    expect(Object.keys(paths).filter((path) => !routesIn(api).includes(path))).toEqual([]);
  });

  it('the counterpart: a route without its row is found, though the text names it', () => {
    const without = withoutRow(api, '`/api/v1/balances`');
    expect(without).toContain('`/api/v1/balances`');
    expect(Object.keys(paths).filter((path) => !routesIn(without).includes(path))).toContain('/api/v1/balances');
  });

  it('are served, all of them', async () => {
    const { json } = await gateway.get('/api/v1/accounts');
    const id = json.accounts[0].id as string;
    for (const path of routesIn(api)) {
      const { status } = await gateway.head(path.replace('{accountId}', id).replace('{code}', 'bank-timeout'));
      expect({ path, served: status === 200 || status === 302 }).toEqual({ path, served: true });
    }
  });
});

describe('the parameters in docs/api.md', () => {
  const rows = (text: string) =>
    new Map(rowsUnder(text, 'parameter', 'value').map(([name, value = '']) => [coded(name).join(), value]));
  const known = (path: string) =>
    new Map((paths[path]?.get.parameters ?? []).filter((each) => each.in === 'query').map((each) => [each.name, each]));
  const list = () => known('/api/v1/accounts');

  it('are those of the list, each with a row of its own', () => {
    const documented = [...rows(api).keys()];
    expect(documented.toSorted()).toEqual([...list().keys()].toSorted());
  });

  it('the counterpart: a filter without its row is found, though the text names it', () => {
    const without = withoutRow(api, '`currency`');
    expect(without).toContain('`currency`');
    expect([...list().keys()].filter((name) => !rows(without).has(name))).toContain('currency');
  });

  it('say which are filters: those that /api/v1/balances takes', () => {
    const path = '/api/v1/balances';
    const filters = [...rows(api)].filter(([, value]) => value.startsWith('filter')).map(([name]) => name);
    expect(filters.toSorted()).toEqual([...known(path).keys()].toSorted());
  });

  it('say the values, ranges and defaults that the schemas have', () => {
    for (const [name, { schema }] of list()) {
      const value = rows(api).get(name) ?? '';
      const words = coded(value);
      const ascending = schema.enum?.filter((word) => !word.startsWith('-')) ?? [];
      expect({ name, values: ascending.filter((word) => !words.includes(word)) }).toEqual({ name, values: [] });
      if (schema.maximum !== undefined) expect(value).toContain(`${schema.minimum}–${schema.maximum}`);
      if (schema.default !== undefined)
        expect(value).toMatch(new RegExp(`default ${String(schema.default)}|\`${String(schema.default)}\` \\(default`));
    }
  });
});

describe('an account in docs/api.md', () => {
  it('has the fields that an answer has, in their order', async () => {
    const { json } = await gateway.get('/api/v1/accounts?pageSize=1');
    const documented = rowsUnder(api, 'field').flatMap(([field]) => coded(field));
    expect(documented).toEqual(Object.keys(json.accounts[0] as object));
  });

  it('and its CSV has the columns that the header line has', async () => {
    const { text } = await gateway.get('/api/v1/accounts?format=csv');
    const [, after = ''] = api.split('Its columns:\n\n');
    const columns = coded(after.split('\n\n')[0]);
    expect(columns).toEqual(text.replace('\uFEFF', '').split('\r\n')[0]?.split(','));
  });
});

describe('the examples', () => {
  const addressesIn = (text: string) =>
    [...text.matchAll(/http:\/\/(?:localhost|127\.0\.0\.1):3000(\/[^\s'"`>)]*)/g)].map(([, path = '']) => path);

  it.each(documentPaths())('in %s name addresses that are answered', async (path) => {
    for (const address of new Set(addressesIn(readDocument(path)))) {
      const { status } = await gateway.head(address);
      expect({ address, status }).toEqual({ address, status: 200 });
    }
  });

  it('the counterpart: an address with a misspelled parameter is refused', async () => {
    const address = addressesIn(readDocument('README.md')).find((each) => each.includes('pageSize')) ?? '';
    expect((await gateway.get(address.replace('pageSize', 'pagesize_'))).status).toBe(400);
  });

  it('the answer in the README is the one that its command gets, but for the times', async () => {
    const [, path = '', text = ''] =
      /curl 'http:\/\/localhost:3000([^']+)'\n```\n\n```json\n([\s\S]+?)```/.exec(readDocument('README.md')) ?? [];
    const { text: answer } = await gateway.get(path);
    expect(withoutTimes(text)).toEqual(withoutTimes(answer));
    expect(withoutTimes(text.replace('"0"', '"0.00"'))).not.toEqual(withoutTimes(answer));
  });

  function withoutTimes(text: string): unknown {
    return JSON.parse(text, (name, value: unknown) =>
      ['financialDate', 'lastTransactionAt', 'asOf'].includes(name) ? typeof value : value,
    );
  }
});
