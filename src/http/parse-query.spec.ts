import { describe, expect, it } from '@jest/globals';
import { parseQuery } from './parse-query.js';

const parse = (query: string) => Object.entries(parseQuery(query));

describe('a query', () => {
  it.each([
    ['', []],
    ['a=1&b=2', [['a', '1'], ['b', '2']]], // prettier-ignore
    ['a=1&a=2&a=3', [['a', ['1', '2', '3']]]],
    ['a=&b', [['a', ''], ['b', '']]], // prettier-ignore
    ['a=1+2%203', [['a', '1 2 3']]],
    ['q=Z%C3%BCrich%20%E2%82%AC', [['q', 'Zürich €']]],
    ['a%5B%5D=1', [['a[]', '1']]],
    ['a[]=1&a[b]=2', [['a[]', '1'], ['a[b]', '2']]], // prettier-ignore
    ['=1', [['', '1']]],
    ['a=%FF', [['a', '\ufffd']]],
    ['a=%', [['a', '%']]],
    ['a=%00', [['a', '\0']]],
    ['a=1;b=2', [['a', '1;b=2']]],
  ])('%j is read', (query, entries) => {
    expect(parse(query)).toEqual(entries);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('may name %s, as anything else', (name) => {
    const found = parseQuery(`${name}=1&${name}=2`);
    expect(Object.entries(found)).toEqual([[name, ['1', '2']]]);
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
  });

  it('has no names that are not in it', () => {
    expect(Object.getPrototypeOf(parseQuery('a=1'))).toBeNull();
  });

  it('has at most 100 parameters, which is enough to find that there are too many', () => {
    const names = Array.from({ length: 150 }, (_, index) => `a${index}`);
    expect(Object.keys(parseQuery(names.join('=1&')))).toEqual(names.slice(0, 100));
    expect(parse('a&'.repeat(8000))).toEqual([['a', Array.from({ length: 100 }, () => '')]]);
  });

  it('has none between separators', () => {
    expect(parse(`${'&'.repeat(8000)}a=1&&`)).toEqual([['a', '1']]);
  });
});
