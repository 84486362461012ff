import { beforeAll, describe, expect, it } from '@jest/globals';
import { start } from '../support/sandbox.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';

let gateway: Gateway;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox);
});

const VALUES = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '01',
  '',
  '9007199254740992',
  '99999999999999999999',
  '%2B1',
  '+1',
  '%201',
  '1%20',
  '1%00',
  '0x10',
  '١',
  '%D9%A1',
  '１',
  '²',
  'abc',
  'null',
  'Infinity',
  'NaN',
  '1,2',
  '%',
  '%zz',
  '%ff',
];

describe('parameters are strict', () => {
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
    ['one repeated with the same value', 'pageSize=5&pageSize=5', ['pageSize']],
    ['two spellings of one name', 'PageNumber=1&pageNumber=1', ['pageNumber']],
    ['three of them', 'PageSize=1&pageSize=1&pagesize=1', ['pageSize']],
    ['an unknown one', 'page=1', ['page']],
    ['an unknown one beside a good one', 'pageSize=5&limit=5', ['limit']],
    ['several unknown ones, all named', 'one=1&two=2&Three=3', ['one', 'two', 'Three']],
    ['a wrong and an unknown one', 'pageSize=0&x=1', ['pageSize', 'x']],
    ['brackets', 'pageNumber[]=1', ['pageNumber[]']],
    ['brackets with a name', 'a[]=1', ['a[]']],
    ['__proto__[x]', '__proto__[x]=1', ['__proto__[x]']],
    ['__proto__', '__proto__=1', ['__proto__']],
    ['constructor', 'constructor=1', ['constructor']],
    ['constructor.prototype', 'constructor.prototype=1', ['constructor.prototype']],
    ['toString', 'toString=1', ['toString']],
    ['an empty name', '=1', ['']],
    ['a name with a space', 'pageNumber =1', ['pageNumber ']],
    ['a name alone', 'pageNumber', ['pageNumber']],
  ])('%s: %s', async (_name, query, expected) => {
    expect((await names(query)).sort()).toEqual([...expected].sort());
  });

  it('a misspelt one is told what may have been meant, on the routes that have such a one', async () => {
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

  it('nothing of it reached the bank, nor changed what objects are', () => {
    expect(sandbox.requests).toEqual([]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('its twin: the same names with good values are taken', async () => {
    expect((await askInTime(gateway, '/api/v1/accounts?pageNumber=1&pageSize=1000&')).status).toBe(200);
  });
});
