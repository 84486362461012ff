import { describe, expect, it } from '@jest/globals';
import { filtersSchema, listQuerySchema } from './list-query.js';

const faults = (query: object) =>
  (listQuerySchema.safeParse(query).error?.issues ?? []).map((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.join() : issue.path.join('.'),
  );

describe('the query of the list', () => {
  it('accepts the documented parameters, in any letter case', () => {
    expect(
      listQuerySchema.parse({
        PAGENUMBER: '2',
        pagesize: '1000',
        STATUS: 'Active',
        OwnerID: 'x',
        Q: 'é',
        SORT: '-current',
        Format: 'csv',
      }),
    ).toEqual({
      separator: 'comma',
      decimal: 'point',
      pageNumber: 2,
      pageSize: 1000,
      status: 'Active',
      ownerId: 'x',
      q: 'é',
      sort: '-current',
      format: 'csv',
    });
    expect(listQuerySchema.parse({})).toEqual({
      pageNumber: 1,
      pageSize: 50,
      sort: 'name',
      separator: 'comma',
      decimal: 'point',
    });
    expect(listQuerySchema.parse({ pageNumber: '9007199254740991' }).pageNumber).toBe(Number.MAX_SAFE_INTEGER);
    expect(listQuerySchema.parse({ q: '😀'.repeat(100) }).q).toHaveLength(200);
  });

  it.each([
    [{ q: '' }, ['q']],
    [{ q: 'x'.repeat(101) }, ['q']],
    [{ q: '😀'.repeat(101) }, ['q']],
    [{ q: ' \u00A0' }, ['q']],
    [{ q: ' \u0301' }, ['q']],
    [{ q: 'a\u0000' }, ['q']],
    [{ q: 'a\nb' }, ['q']],
    [{ q: 'a\u0085' }, ['q']],
    [{ q: 'a\uFFFD' }, ['q']],
    [{ q: ['a', 'b'] }, ['q']],
    [{ status: '' }, ['status']],
    [{ status: ' ', currency: ' ', ownerId: ' ' }, ['status', 'currency', 'ownerId']],
    [{ currency: 'x'.repeat(11) }, ['currency']],
    [{ iban: 'x'.repeat(101) }, ['iban']],
    [{ ownerId: 'a\tb' }, ['ownerId']],
    [{ pageNumber: '9007199254740992' }, ['pageNumber']],
    ...['0', '-1', '1.5', '1e3', '01', '', '+1', ' 1', '\u0661', '1001'].map((pageSize): [object, string[]] => [
      { pageSize },
      ['pageSize'],
    ]),
    [{ sort: 'Name' }, ['sort']],
    [{ sort: '--name' }, ['sort']],
    [{ sort: 'id' }, ['sort']],
    [{ sort: ['name', 'name'] }, ['sort']],
    [{ format: 'xml' }, ['format']],
    [{ format: 'CSV' }, ['format']],
    [{ status: 'a', Status: 'b' }, ['status']],
    [{ limit: '1' }, ['limit']],
    [{ sort: 'x', q: '', other: '1' }, ['q', 'sort', 'other']],
    [{ iban: ' ' }, ['iban']],
    [{ q: '\u0301' }, ['q']],
    [{ separator: 'pipe' }, ['separator']],
    [{ decimal: '.' }, ['decimal']],
  ])('%j is rejected, and the error names the parameter', (query, names) => {
    expect(faults(query).sort()).toEqual([...names].sort());
  });

  it('of /api/v1/balances accepts the filters and nothing else', () => {
    expect(filtersSchema.parse({ STATUS: 'x', q: 'y' })).toEqual({ status: 'x', q: 'y' });
    for (const name of ['sort', 'pageNumber', 'format'])
      expect(filtersSchema.safeParse({ [name]: 'name' }).success).toBe(false);
  });
});
