import { describe, expect, it } from '@jest/globals';
import { DEFAULT_VIEW, readView, toCsvAddress, toFilters, toListQuery, toSearch, turned, type View } from './view.js';

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

  it('keeps no more of a text than the API takes', () => {
    expect(readView(`?q=${'x'.repeat(500)}`).q).toHaveLength(100);
  });
});

describe('a view as a question to the API', () => {
  it('has the filters that are set', () => {
    expect(toFilters({ ...DEFAULT_VIEW, q: ' a ', currency: ' ' })).toEqual({ q: 'a' });
    expect(toListQuery({ ...DEFAULT_VIEW, status: 'Closed' })).toEqual({
      status: 'Closed',
      sort: 'name',
      pageNumber: 1,
      pageSize: 25,
    });
  });

  it('is the whole of it for CSV, in the same order', () => {
    expect(toCsvAddress(view)).toBe(
      '/api/v1/accounts?q=a%26b%3D%C3%B8&status=Active&currency=EUR&ownerId=x&sort=-current&format=csv',
    );
  });
});

it('a header sorts up first, then down', () => {
  expect([turned('name', 'current'), turned('current', 'current'), turned('-current', 'current')]).toEqual([
    'current',
    '-current',
    'current',
  ]);
});
