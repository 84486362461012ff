import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.js';
import { parseQuery, readQuery } from './read-query.js';

const schema = z.strictObject({
  size: z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).optional(),
  nested: z.object({ part: z.string('must be a string') }).optional(),
});

it('a query is parsed with its schema', () => {
  expect(readQuery({ query: { size: '5' }, originalUrl: '/?size=5' }, schema)).toEqual({ size: 5 });
});

it('a query string is parsed once per schema, and its result cannot be changed', () => {
  let reads = 0;
  const counted = schema.transform((query) => ({ ...query, read: (reads += 1) }));
  const read = (text: string) => readQuery({ query: { size: '5' }, originalUrl: `/${text}` }, counted);
  expect([read('?size=5') === read('?size=5'), reads]).toEqual([true, 1]);
  expect(Object.isFrozen(read('?size=5'))).toBe(true);
  expect([read('?size=5&') === read('?size=5'), reads]).toEqual([false, 2]);
  // a long one is not kept
  for (let round = 0; round < 2; round++) read(`?size=5${'&'.repeat(500)}`);
  expect(reads).toBe(4);
});

/** The problem for parameters that the schema rejects. */
function problemOf(query: object): GatewayError {
  try {
    readQuery({ query, originalUrl: '/?wrong' }, schema);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('nothing was rejected');
}

describe('rejected parameters', () => {
  it('are reported with the reason', () => {
    const error = problemOf({ size: 'x' });
    expect([error.code, error.status, error.detail]).toEqual(['invalid-request', 400, 'size must be a whole number.']);
    expect(error.errors).toEqual([{ name: 'size', reason: 'must be a whole number' }]);
  });

  it('are all reported, each unknown one separately', () => {
    expect(problemOf({ size: 'x', colour: '1', 'a[]': '2' }).errors).toEqual([
      { name: 'size', reason: 'must be a whole number' },
      { name: 'colour', reason: 'is not a parameter of this route (see /docs)' },
      { name: 'a[]', reason: 'is not a parameter of this route (see /docs)' },
    ]);
  });

  it('are reported by their path', () => {
    expect(problemOf({ nested: { part: 1 } }).errors?.[0]?.name).toBe('nested.part');
  });

  it('are truncated if their name is long', () => {
    const name = problemOf({ ['x'.repeat(5000)]: '1' }).errors?.[0]?.name;
    expect(name).toBe(`${'x'.repeat(60)}…`);
  });

  it('are reported without their value', () => {
    expect(JSON.stringify(problemOf({ size: 'hunter2', colour: 'hunter2' }))).not.toContain('hunter2');
  });
});

it('a query string is parsed up to 100 parameters; consecutive empty ones count as one', () => {
  const query = parseQuery(`${'&'.repeat(5000)}${'a&'.repeat(200)}z=1`);
  // an empty parameter at the beginning is not a parameter, but counts
  expect([Object.keys(query), query['a']?.length]).toEqual([['a'], 99]);
  expect(Object.keys(parseQuery(`${'&'.repeat(5000)}z=1`))).toEqual(['z']);
});
