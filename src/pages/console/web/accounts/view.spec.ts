import { describe, expect, it } from '@jest/globals';
import type { Account } from '../shared/gateway.js';
import {
  DEFAULT_VIEW,
  filterShown,
  readView,
  toFileName,
  toFilters,
  toListQuery,
  toSearch,
  turned,
  type View,
} from './view.js';

const view: View = {
  q: 'a&b=ø',
  status: 'Active',
  currency: 'EUR',
  ownerId: 'x',
  sort: '-current',
  pageNumber: 3,
  pageSize: 100,
  account: 'id/1',
};

describe('a view in the address bar', () => {
  it('is read back as it was written', () => {
    expect(readView(toSearch(view))).toEqual(view);
    expect(readView(toSearch(DEFAULT_VIEW))).toEqual(DEFAULT_VIEW);
  });

  it('omits default values', () => {
    expect(toSearch(DEFAULT_VIEW)).toBe('?');
    expect(toSearch({ ...DEFAULT_VIEW, currency: 'EUR' })).toBe('?currency=EUR');
  });

  it.each([
    'sort=evil',
    'pageNumber=0',
    'pageNumber=-1',
    'pageNumber=1e9',
    'pageSize=1000000',
    'pageSize=x',
    'other=1',
  ])('falls back to the default for %s', (search) => {
    expect(readView(`?${search}`)).toEqual(DEFAULT_VIEW);
  });

  it('truncates a text to the maximum length of the API', () => {
    expect(readView(`?q=${'x'.repeat(500)}`).q).toHaveLength(100);
  });

  it("accepts an id as long as the API's", () => {
    const id = 'x'.repeat(200);
    expect(readView(`?account=${id}&ownerId=${id}`)).toMatchObject({ account: id, ownerId: id });
  });
});

describe('a view as a query of the API', () => {
  it('contains the filters that are set', () => {
    expect(toFilters({ ...DEFAULT_VIEW, q: ' a ', currency: ' ' })).toEqual({ q: 'a' });
    expect(toListQuery({ ...DEFAULT_VIEW, status: 'Closed' })).toEqual({
      status: 'Closed',
      sort: 'name',
      pageNumber: 1,
      pageSize: 25,
    });
  });
});

describe('a view without the gateway', () => {
  const owner = { id: 'o', name: 'Nordlys', number: '4471' };
  const account = { owner, description: null, status: 'Active', currency: 'EUR', identifiers: [{ account: '0012' }] };
  const accounts = [
    { ...account, name: 'Payroll', ibans: ['LU06', 'DE80'] },
    { ...account, name: 'Tax', ibans: [], currency: 'USD' },
  ] as unknown as Account[];
  const namesOf = (change: Partial<View>) =>
    filterShown(accounts, { ...DEFAULT_VIEW, ...change }).map(({ name }) => name);

  it('filters the loaded accounts, by each text that the search covers', () => {
    for (const q of ['', '0012', '4471']) expect(namesOf({ q })).toEqual(['Payroll', 'Tax']);
    expect(namesOf({ q: ' nordLYS', currency: 'usd' })).toEqual(['Tax']);
    expect(namesOf({ q: 'de80', ownerId: 'O' })).toEqual(['Payroll']);
    expect(namesOf({ status: 'Closed' })).toEqual([]);
  });
});

it('a download is named after environment, filters and time, with safe characters only', () => {
  expect(toFileName('production', DEFAULT_VIEW, '2026-11-21T10:09:11.123Z')).toBe(
    'accounts_production_2026-11-21T100911Z.csv',
  );
  expect(toFileName('Live bank', { ...DEFAULT_VIEW, q: '../ø /x', currency: 'EUR' }, '2026-11-21T10:09:11.123Z')).toBe(
    'accounts_Live-bank_..-ø-x_currency-EUR_2026-11-21T100911Z.csv',
  );
});

it('a header sorts up first, then down', () => {
  expect([turned('name', 'current'), turned('current', 'current'), turned('-current', 'current')]).toEqual([
    'current',
    '-current',
    'current',
  ]);
});
