import { describe, expect, it } from '@jest/globals';
import { createQueryParser } from './query-parser.js';

describe('a query string', () => {
  const parse = createQueryParser();

  it('is parsed once: the same string returns the same object', () => {
    expect(parse('a=1&b=2')).toBe(parse('a=1&b=2'));
    expect({ ...parse('a=1&b=%20') }).toEqual({ a: '1', b: ' ' });
  });

  it('another string returns another object, even with the same meaning', () => {
    expect(parse('a=1&&b=2')).not.toBe(parse('a=1&b=2'));
    expect(parse('a=1&&b=2')).toEqual(parse('a=1&b=2'));
  });

  it('is frozen, because callers share it', () => {
    const query = parse('a=1&a=2&b=3');
    expect([query, query['a']].map((each) => Object.isFrozen(each))).toEqual([true, true]);
  });

  it('is not cached if it is long', () => {
    const long = `q=${'x'.repeat(600)}`;
    expect(parse(long)).not.toBe(parse(long));
    expect(parse(long)).toEqual(parse(long));
  });

  it('is cached up to 1000 entries', () => {
    const first = parse('first');
    for (let index = 0; index < 1000; index++) parse(`a=${index}`);
    expect(parse('first')).not.toBe(first);
    expect(parse('a=999')).toBe(parse('a=999'));
  });

  it('is read up to 100 parameters; consecutive empty ones count as one', () => {
    const query = parse(`${'&'.repeat(5000)}${'a&'.repeat(200)}z=1`);
    // an empty one at the beginning is no parameter, but is counted
    expect([Object.keys(query), query['a']?.length]).toEqual([['a'], 99]);
    expect(Object.keys(parse(`${'&'.repeat(5000)}z=1`))).toEqual(['z']);
  });
});
