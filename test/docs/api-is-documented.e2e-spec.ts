import { beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/time/clock.js';
import { coded, documentPaths, readDocument, rowsUnder } from '../support/documents.js';
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
  gateway = await startGateway(bank, {}, new Clock(), bank.control);
  ({ paths } = (await gateway.get('/openapi.json')).json as { paths: typeof paths });
});

const routes = rowsUnder(api, 'path', 'response').flatMap(([path]) => coded(path));

describe('the routes in docs/api.md', () => {
  it('include all of the OpenAPI document', () => {
    expect(Object.keys(paths).filter((path) => !routes.includes(path))).toEqual([]);
  });

  it('are all served', async () => {
    const { json } = await gateway.get('/api/v1/accounts');
    const id = json.accounts[0].id as string;
    for (const path of routes) {
      const { status } = await gateway.head(path.replace('{accountId}', id).replace('{code}', 'bank-timeout'));
      expect({ path, served: status === 200 || status === 302 }).toEqual({ path, served: true });
    }
  });
});

describe('the parameters in docs/api.md', () => {
  const rows = new Map(rowsUnder(api, 'parameter', 'value').map(([name, value = '']) => [coded(name).join(), value]));
  const known = (path: string) =>
    new Map((paths[path]?.get.parameters ?? []).filter((each) => each.in === 'query').map((each) => [each.name, each]));
  const list = () => known('/api/v1/accounts');

  it('are those of the list, one row each', () => {
    const documented = [...rows.keys()];
    expect(documented.toSorted()).toEqual([...list().keys()].toSorted());
  });

  it('are called filters where /api/v1/balances takes them', () => {
    const path = '/api/v1/balances';
    const filters = [...rows].filter(([, value]) => value.startsWith('filter')).map(([name]) => name);
    expect(filters.toSorted()).toEqual([...known(path).keys()].toSorted());
  });

  it('have the values, ranges and defaults of the schemas', () => {
    for (const [name, { schema }] of list()) {
      const value = rows.get(name) ?? '';
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
  it('has the fields of a response, in their order', async () => {
    const { json } = await gateway.get('/api/v1/accounts?pageSize=1');
    const documented = rowsUnder(api, 'field').flatMap(([field]) => coded(field));
    expect(documented).toEqual(Object.keys(json.accounts[0] as object));
  });

  it('has the columns of the CSV header line', async () => {
    const { text } = await gateway.get('/api/v1/accounts?format=csv');
    const [, after = ''] = api.split('Its columns:\n\n');
    const columns = coded(after.split('\n\n')[0]);
    expect(columns).toEqual(text.replace('\uFEFF', '').split('\r\n')[0]?.split(','));
  });
});

describe('the examples', () => {
  const addressesIn = (text: string) =>
    [...text.matchAll(/http:\/\/(?:localhost|127\.0\.0\.1):3000(\/[^\s'"`>)]*)/g)].map(([, path = '']) => path);

  it.each(documentPaths())('in %s use addresses that exist', async (path) => {
    for (const address of new Set(addressesIn(readDocument(path)))) {
      const { status } = await gateway.head(address);
      expect({ address, status }).toEqual({ address, status: 200 });
    }
  });
});
