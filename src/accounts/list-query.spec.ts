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
    ).toMatchObject({
      format: 'csv',
      json: {
        kind: 'accounts',
        selection: { filters: { status: 'active', ownerId: 'x', q: 'E' }, sort: '-current' },
        number: 2,
        size: 1000,
      },
    });
    const selection = { filters: {}, sort: 'name' };
    expect(listQuerySchema.parse({})).toEqual({
      json: { kind: 'accounts', selection, number: 1, size: 50 },
      csv: { kind: 'csv', selection, dialect: { separator: 'comma', decimal: 'point' } },
      ndjson: { kind: 'ndjson', selection },
    });
    const { json } = listQuerySchema.parse({ pageNumber: '9007199254740991', q: '😀'.repeat(100) });
    expect(json).toMatchObject({ number: Number.MAX_SAFE_INTEGER, selection: { filters: { q: '😀'.repeat(100) } } });
  });

  it.each([
    ['status', ['Active', 'ACTIVE', 'active']],
    ['currency', ['eur', 'EUR', 'Eur']],
    ['ownerId', ['5D4C', '5d4c']],
    ['iban', ['DE89 3704', 'de893704']],
    ['q', ['Løhne', 'LOHNE', 'lo\u0308hne']],
  ])('is the same query for every equivalent spelling of %s', (name, spellings) => {
    const [first, ...others] = spellings.map((value) => listQuerySchema.parse({ [name]: value }));
    for (const other of others) expect(other).toEqual(first);
    expect(listQuerySchema.parse({ [name]: 'x' })).not.toEqual(first);
  });

  it('accepts every owner id', () => {
    expect(filtersSchema.parse({ ownerId: 'x'.repeat(200) })).toEqual({ ownerId: 'x'.repeat(200) });
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
    [{ ownerId: 'x'.repeat(201) }, ['ownerId']],
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
  ])('rejects %j, and the error names the parameter', (query, names) => {
    expect(faults(query).sort()).toEqual([...names].sort());
  });

  it('of /api/v1/balances accepts only the filters', () => {
    expect(filtersSchema.parse({ STATUS: 'x', q: 'y' })).toEqual({ status: 'x', q: 'Y' });
    for (const name of ['sort', 'pageNumber', 'format'])
      expect(filtersSchema.safeParse({ [name]: 'name' }).success).toBe(false);
  });
});
