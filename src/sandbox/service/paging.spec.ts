import { describe, expect, it } from '@jest/globals';
import { parsePaging } from './paging.js';

describe('parsePaging', () => {
  it.each([
    ['', 1, 50],
    ['PageNumber=3&PageSize=5000', 3, 5000],
    ['pagenumber=2&PAGESIZE=1', 2, 1],
    ['foo=1&PageSize=007', 1, 7],
  ])('reads "%s"', (query, number, size) => {
    expect(parsePaging(new URLSearchParams(query))).toEqual({ good: true, paging: { number, size } });
  });

  it.each(['0', '-1', '+1', '1.5', '1e3', '', ' 1', '٣', '5001', '4294967297'])('refuses PageSize "%s"', (value) => {
    const result = parsePaging(new URLSearchParams({ PageSize: value }));
    expect(result).toMatchObject({ good: false, errors: { PageSize: [expect.any(String)] } });
  });

  it('names both when both are wrong', () => {
    const result = parsePaging(new URLSearchParams('PageSize=x&PageNumber=y'));
    expect(result).toMatchObject({ errors: { PageSize: expect.any(Array), PageNumber: expect.any(Array) } });
  });
});
