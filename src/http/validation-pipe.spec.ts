import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.js';
import { toInvalidRequest, ValidationPipe } from './validation-pipe.js';

const schema = z.strictObject({
  size: z.string().regex(/^\d+$/, 'must be a whole number').optional(),
  nested: z.object({ part: z.string('must be a text') }).optional(),
});

/** The problem for parameters that the schema rejects. */
function problemOf(query: object) {
  const { issues } = schema['~standard'].validate(query) as { issues?: Parameters<typeof toInvalidRequest>[0] };
  if (!issues) throw new Error('nothing was refused');
  return toInvalidRequest(issues);
}

describe('parameters that are rejected', () => {
  it('are named with the reason', () => {
    const error = problemOf({ size: 'x' });
    expect([error.code, error.status, error.detail]).toEqual(['invalid-request', 400, 'size must be a whole number.']);
    expect(error.errors).toEqual([{ name: 'size', reason: 'must be a whole number' }]);
  });

  it('are all named, each unknown one separately', () => {
    expect(problemOf({ size: 'x', colour: '1', 'a[]': '2' }).errors).toEqual([
      { name: 'size', reason: 'must be a whole number' },
      { name: 'colour', reason: 'is not a parameter of this route (see /docs)' },
      { name: 'a[]', reason: 'is not a parameter of this route (see /docs)' },
    ]);
  });

  it('are named by their path', () => {
    expect(problemOf({ nested: { part: 1 } }).errors?.[0]?.name).toBe('nested.part');
  });

  it('are cut off when their name is long', () => {
    const name = problemOf({ ['x'.repeat(5000)]: '1' }).errors?.[0]?.name;
    expect(name).toBe(`${'x'.repeat(60)}…`);
  });

  it('are named without their value', () => {
    expect(JSON.stringify(problemOf({ size: 'hunter2', colour: 'hunter2' }))).not.toContain('hunter2');
  });
});

describe('a query that was validated', () => {
  const counted = () => {
    let times = 0;
    const count = (text: string) => {
      times += 1;
      return Number(text);
    };
    const sized = z.strictObject({ size: z.string().transform(count) });
    return { sized, times: () => times };
  };
  const pipe = new ValidationPipe();
  const frozen = Object.freeze({ size: '1' });

  it('is validated once per object and schema, and its result is frozen', () => {
    const [one, other] = [counted(), counted()];
    const first = pipe.transform(frozen, { type: 'query', schema: one.sized });
    expect(pipe.transform(frozen, { type: 'query', schema: one.sized })).toBe(first);
    expect([first, Object.isFrozen(first), one.times()]).toEqual([{ size: 1 }, true, 1]);
    pipe.transform(frozen, { type: 'query', schema: other.sized });
    expect(other.times()).toBe(1);
  });

  it.each([
    ['an object that may change', 'query', { size: '1' }],
    ['a body', 'body', frozen],
  ] as const)('the negative case: %s is validated each time', (_name, type, value) => {
    const { sized, times } = counted();
    for (let round = 0; round < 3; round++) pipe.transform(value, { type, schema: sized });
    expect(times()).toBe(3);
  });

  it('the negative case: a wrong one is rejected each time', () => {
    const wrong = Object.freeze({ colour: '1' });
    for (let round = 0; round < 2; round++) {
      expect(() => pipe.transform(wrong, { type: 'query', schema: counted().sized })).toThrow(GatewayError);
    }
  });
});
