import { describe, expect, it } from '@jest/globals';
import { parseQuery } from './parse-query.js';

describe('a query string', () => {
  it('is parsed into texts, and lists of those given twice', () => {
    expect({ ...parseQuery('a=1&&b=%20&b=+') }).toEqual({ a: '1', b: [' ', ' '] });
  });

  it('is read up to 100 parameters; consecutive empty ones count as one', () => {
    const query = parseQuery(`${'&'.repeat(5000)}${'a&'.repeat(200)}z=1`);
    // an empty one at the beginning is no parameter, but is counted
    expect([Object.keys(query), query['a']?.length]).toEqual([['a'], 99]);
    expect(Object.keys(parseQuery(`${'&'.repeat(5000)}z=1`))).toEqual(['z']);
  });
});
