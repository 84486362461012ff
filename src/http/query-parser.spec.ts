import { describe, expect, it } from '@jest/globals';
import { createQueryParser } from './query-parser.js';

describe('a query string', () => {
  const parse = createQueryParser();

  it('is parsed once: the same string gives the same object', () => {
    expect(parse('a=1&b=2')).toBe(parse('a=1&b=2'));
    expect({ ...parse('a=1&b=%20') }).toEqual({ a: '1', b: ' ' });
  });

  it('another string gives another object, even if it means the same', () => {
    expect(parse('a=1&&b=2')).not.toBe(parse('a=1&b=2'));
    expect(parse('a=1&&b=2')).toEqual(parse('a=1&b=2'));
  });

  it('is frozen, since others share it', () => {
    const query = parse('a=1&a=2&b=3');
    expect([query, query['a']].map((each) => Object.isFrozen(each))).toEqual([true, true]);
  });

  it('that is long is not remembered', () => {
    const long = `q=${'x'.repeat(600)}`;
    expect(parse(long)).not.toBe(parse(long));
    expect(parse(long)).toEqual(parse(long));
  });

  it('of anyone, however many there are, leaves at most 1000 remembered', () => {
    const first = parse('first');
    for (let index = 0; index < 1000; index++) parse(`a=${index}`);
    expect(parse('first')).not.toBe(first);
    expect(parse('a=999')).toBe(parse('a=999'));
  });

  it('is read up to 100 parameters; empty ones in a row count as one', () => {
    const query = parse(`${'&'.repeat(5000)}${'a&'.repeat(200)}z=1`);
    // an empty one at the beginning is no parameter, but counts
    expect([Object.keys(query), query['a']?.length]).toEqual([['a'], 99]);
    expect(Object.keys(parse(`${'&'.repeat(5000)}z=1`))).toEqual(['z']);
  });
});
