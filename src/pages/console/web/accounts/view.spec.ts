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
  it('comes back as it was written', () => {
    expect(readView(toSearch(view))).toEqual(view);
    expect(readView(toSearch(DEFAULT_VIEW))).toEqual(DEFAULT_VIEW);
  });

  it('leaves out what is usual', () => {
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
  ])('is the usual one where it says %s', (search) => {
    expect(readView(`?${search}`)).toEqual(DEFAULT_VIEW);
  });

  it('cuts a text to the length that the API takes', () => {
    expect(readView(`?q=${'x'.repeat(500)}`).q).toHaveLength(100);
  });

  it('keeps an id as long as those of the API', () => {
    const id = 'x'.repeat(200);
    expect(readView(`?account=${id}&ownerId=${id}`)).toMatchObject({ account: id, ownerId: id });
  });
});

describe('a view as a query of the API', () => {
  it('has the filters that are set', () => {
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
  const account = { description: null, status: 'Active', currency: 'EUR', owner: { id: 'o', name: 'Nordlys' } };
  const accounts = [
    { ...account, name: 'Payroll', iban: 'DE80' },
    { ...account, name: 'Tax', iban: null, currency: 'USD' },
  ] as unknown as Account[];
  const namesOf = (change: Partial<View>) =>
    filterShown(accounts, { ...DEFAULT_VIEW, ...change }).map(({ name }) => name);

  it('filters what is there', () => {
    expect(namesOf({})).toEqual(['Payroll', 'Tax']);
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
